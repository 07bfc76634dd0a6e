//! `pgflow signal`.

use std::time::Duration;

use clap::Args;
use pgflow_runtime::Signalled;
use serde_json::json;

use crate::database::{Reach, folded, parse_duration};
use crate::error::Error;
use crate::{out, start};

/// What to answer.
#[derive(Args)]
#[command(after_help = "\
Examples:
  pgflow signal hk_4Yc… '{\"approved\": true}'
  pgflow signal order-42-approval true --resume-id mail-7

`pgflow ls --hooks` lists what is waited for. Of answers with the same resume id one is delivered. Ends with 1 if
nobody waits for it, or if it is not what is waited for.")]
pub(crate) struct Signal {
    /// The token of the hook.
    token: String,

    /// What is answered: JSON, `@file`, or `-` for standard input [default: null]
    answer: Option<String>,

    #[command(flatten)]
    reach: Reach,

    /// Of answers with the same one, one is delivered.
    #[arg(long, value_name = "ID")]
    resume_id: Option<String>,

    /// How long it is kept if nobody waits for it yet [default: 7d]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    keep: Option<Duration>,
}

pub(crate) async fn run(command: &Signal) -> Result<bool, Error> {
    let answer = start::read(command.answer.as_deref())?;
    let db = command.reach.open().await?;
    let mut signal = db.signal(&command.token, command.resume_id.as_deref(), &answer);
    if let Some(time) = command.keep {
        signal = signal.buffer_for(time);
    }
    let (outcome, text, is_well) = match signal.await? {
        Signalled::Delivered(task) => {
            let text = format!("delivered to step `{}` of run {}", task.step, task.run);
            ("delivered", text, true)
        }
        Signalled::Duplicate => ("duplicate", "it was answered with this id before".into(), true),
        Signalled::Conflict => {
            ("conflict", "something else was answered with this id before".into(), false)
        }
        Signalled::Buffered => ("buffered", "kept: nobody waits for it yet".into(), true),
        Signalled::Rejected { path, message } => {
            let place = if path.is_empty() { "the answer".to_owned() } else { path };
            ("rejected", format!("not what is waited for: {place}: {message}"), false)
        }
        Signalled::Gone => ("gone", "nobody waits for it".into(), false),
    };
    if command.reach.json {
        out::json(json!({ "outcome": outcome, "text": text }))?;
    } else {
        out::line(folded(&text))?;
    }
    Ok(is_well)
}
