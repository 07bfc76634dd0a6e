//! `pgflow serve`.

use std::net::{SocketAddr, ToSocketAddrs as _};

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

    /// Show no payload and no error message.
    #[arg(long)]
    hide_payloads: bool,
}

/// An address.
#[derive(Args)]
pub(crate) struct At {
    /// The address to listen on.
    #[arg(long, value_name = "ADDRESS", default_value_t = pgflow_web::ADDRESS, value_parser = parse_address)]
    listen: SocketAddr,
}

/// A number or a name of this machine, with a port; of several addresses that a name has, one that programs of all ages use.
fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let wrong =
        |why: String| format!("an address is such as 127.0.0.1:4680 or localhost:4680: {why}");
    let found: Vec<_> = text.to_socket_addrs().map_err(|error| wrong(error.to_string()))?.collect();
    let chosen = found.iter().find(|address| address.is_ipv4()).or(found.first());
    chosen.copied().ok_or_else(|| wrong("nothing is called like that".to_owned()))
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
            out::json(json!({ "database": db.to_string(), "url": url }))?;
        } else {
            out::line(format_args!("dashboard of {db} on {url}"))?;
        }
        Ok(server)
    }
}

pub(crate) async fn run(command: &Serve) -> Result<bool, Error> {
    let db = command.reach.open().await?;
    // On loopback only, so that names can be signalled too.
    let mut options =
        Options::new().actions(command.actions).hooks(command.hooks).named_hooks(true);
    if command.hide_payloads {
        options = options.hide_payloads();
    }
    let server = command.at.bind(&db, command.reach.json, options).await?;
    if !server.address().ip().is_loopback() && !command.hide_payloads {
        out::note(format_args!(
            "warning: whoever reaches {} sees everything, also what runs are given and put out\n             help: `--hide-payloads` shows no payload and no error message",
            server.address()
        ));
    }
    patiently();
    server.run(interrupted()).await?;
    Ok(true)
}
