//! `pgflow queue pause` and `resume`.

use serde_json::json;

use super::Named;
use crate::database::flat;
use crate::error::Error;
use crate::out;

pub(super) async fn pause(named: &Named) -> Result<bool, Error> {
    let is_new = named.reach.open().await?.queue(&named.queue).pause().await?;
    said(named, if is_new { "is paused" } else { "was paused before" })
}

pub(super) async fn resume(named: &Named) -> Result<bool, Error> {
    let is_new = named.reach.open().await?.queue(&named.queue).resume().await?;
    said(named, if is_new { "goes on" } else { "was not paused" })
}

fn said(named: &Named, outcome: &str) -> Result<bool, Error> {
    if named.reach.json {
        out::line(json!({ "queue": named.queue, "outcome": outcome }))?;
    } else {
        out::line(format!("queue {} {outcome}", flat(&named.queue)))?;
    }
    Ok(true)
}
