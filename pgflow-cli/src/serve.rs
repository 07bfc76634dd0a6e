//! `pgflow serve`.

use std::net::SocketAddr;

use clap::Args;
use pgflow_runtime::Db;
use pgflow_web::{Options, Server};
use serde_json::json;

use crate::database::Reach;
use crate::error::Error;
use crate::interrupt::{interrupted, patiently};
use crate::out;

/// Where to serve it.
#[derive(Args)]
#[command(after_help = "\
Examples:
  pgflow serve                         the dashboard, to look at, for this machine only
  pgflow serve --actions               with buttons: retry, cancel, signal, redrive, pause
  pgflow serve --hooks                 and `POST /hooks/TOKEN`, for steps that wait

Actions and hooks are served on loopback addresses only; to let others take them, mount `pgflow_web::router` in an
application that knows who they are.")]
pub(crate) struct Serve {
    #[command(flatten)]
    reach: Reach,

    #[command(flatten)]
    pub(crate) at: At,

    /// Let the dashboard retry, cancel, signal, redrive, pause and start things.
    #[arg(long)]
    actions: bool,

    /// Take signals for steps that wait, at `POST /hooks/TOKEN`.
    #[arg(long)]
    hooks: bool,
}

/// An address.
#[derive(Args)]
pub(crate) struct At {
    /// The address to listen on.
    #[arg(long, value_name = "ADDRESS", default_value_t = pgflow_web::ADDRESS)]
    listen: SocketAddr,
}

impl At {
    /// Takes the address, and says where the dashboard is.
    pub(crate) async fn bind(
        &self,
        db: &Db,
        is_json: bool,
        options: Options,
    ) -> Result<Server, Error> {
        let server = Server::bind(db, self.listen, options).await?;
        let url = format!("http://{}", server.address());
        if is_json {
            out::line(json!({ "database": db.to_string(), "url": url }))?;
        } else {
            out::line(format_args!("dashboard of {db} on {url}"))?;
        }
        Ok(server)
    }
}

pub(crate) async fn run(command: &Serve) -> Result<bool, Error> {
    let db = command.reach.open().await?;
    let options = Options::new().actions(command.actions).hooks(command.hooks);
    let server = command.at.bind(&db, command.reach.json, options).await?;
    patiently();
    server.run(interrupted()).await?;
    Ok(true)
}
