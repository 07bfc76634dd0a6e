//! `pgflow schedule pause`, `resume`, `fire` and `rm`.

use pgflow_runtime::client::ScheduleHandle;
use serde_json::json;

use super::Named;
use crate::database::flat;
use crate::error::Error;
use crate::out;

impl Named {
    async fn open(&self) -> Result<ScheduleHandle, Error> {
        Ok(self.reach.open().await?.schedule(&self.name))
    }

    /// Says what became of it, and whether that was meant.
    fn say(&self, said: &str, is_meant: bool) -> Result<bool, Error> {
        if self.reach.json {
            out::line(json!({ "schedule": self.name, "outcome": said }))?;
        } else {
            out::line(format!("schedule {} {said}", flat(&self.name)))?;
        }
        Ok(is_meant)
    }
}

pub(super) async fn pause(named: &Named) -> Result<bool, Error> {
    let is_new = named.open().await?.pause().await?;
    named.say(if is_new { "is paused" } else { "was paused before" }, true)
}

pub(super) async fn resume(named: &Named) -> Result<bool, Error> {
    let is_new = named.open().await?.resume().await?;
    named.say(if is_new { "goes on" } else { "was not paused" }, true)
}

pub(super) async fn remove(named: &Named) -> Result<bool, Error> {
    let is_there = named.open().await?.remove().await?;
    named.say(if is_there { "is removed" } else { "is not there" }, is_there)
}

pub(super) async fn fire(named: &Named) -> Result<bool, Error> {
    let run = named.open().await?.fire().await?;
    let json = json!({ "schedule": named.name, "run": run });
    out::line(if named.reach.json { json.to_string() } else { run.to_string() })?;
    Ok(true)
}
