//! `pgflow install`.

use clap::Args;
use pgflow_runtime::ClientError;
use pgflow_runtime::backend::SchemaState;
use serde_json::json;

use crate::database::Reach;
use crate::error::Error;
use crate::out;

/// Where to.
#[derive(Args)]
#[command(after_help = "\
Example:
  pgflow install --database sqlite:app.db

Safe to repeat, and while workers run. A file of SQLite that is missing is made. Flows come with
the migrations of your program: `db.apply(&pgflow::migrations!())`.")]
pub(crate) struct Install {
    #[command(flatten)]
    reach: Reach,
}

pub(crate) async fn run(command: &Install) -> Result<bool, Error> {
    let db = command.reach.connect_or_make().await?;
    let before = db.schema().await?;
    db.migrate().await.map_err(ClientError::from)?;
    let (schema, text) = match before {
        SchemaState::Missing => ("installed", "installed"),
        SchemaState::Behind { .. } => ("updated", "updated"),
        SchemaState::Current | SchemaState::Newer { .. } | SchemaState::Hidden => {
            ("up_to_date", "up to date")
        }
    };
    if command.reach.json {
        out::json(json!({ "database": db.to_string(), "schema": schema }))?;
    } else {
        out::line(format_args!("{db}: {text}"))?;
    }
    Ok(true)
}
