//! `pgflow schedule pause`, `resume`, `fire` and `rm`.

use pgflow_runtime::client::ScheduleHandle;
use serde_json::json;

use super::Named;
use crate::database::flat;
use crate::error::Error;
use crate::out;
use crate::queue::pause::{NOT_PAUSED, PAUSED, PAUSED_BEFORE, RESUMED};

impl Named {
    async fn open(&self) -> Result<ScheduleHandle, Error> {
        Ok(self.reach.open().await?.schedule(&self.name))
    }

    /// Says what became of it, and whether that was meant.
    fn say(&self, (outcome, text): (&str, &str), is_meant: bool) -> Result<bool, Error> {
        if self.reach.json {
            out::json(json!({ "schedule": self.name, "outcome": outcome, "text": text }))?;
        } else {
            out::line(format_args!("schedule {} {text}", flat(&self.name)))?;
        }
        Ok(is_meant)
    }
}

pub(super) async fn pause(named: &Named) -> Result<bool, Error> {
    let is_new = named.open().await?.pause().await?;
    named.say(if is_new { PAUSED } else { PAUSED_BEFORE }, true)
}

pub(super) async fn resume(named: &Named) -> Result<bool, Error> {
    let is_new = named.open().await?.resume().await?;
    named.say(if is_new { RESUMED } else { NOT_PAUSED }, true)
}

pub(super) async fn remove(named: &Named) -> Result<bool, Error> {
    let is_there = named.open().await?.remove().await?;
    let said = if is_there { ("removed", "is removed") } else { ("gone", "is not there") };
    named.say(said, is_there)
}

pub(super) async fn fire(named: &Named) -> Result<bool, Error> {
    let run = named.open().await?.fire().await?;
    if named.reach.json {
        out::json(json!({ "schedule": named.name, "run": run }))?;
    } else {
        out::line(run)?;
    }
    Ok(true)
}
