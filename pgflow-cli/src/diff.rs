//! `cargo pgflow diff`.

mod markdown;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pgflow_model::{Change, Impact, Lock, LockedVersion, changes};
use serde_json::{Value, json};

use crate::args::{Diff, Options};
use crate::error::Error;
use crate::{out, revision};

/// What happened to the newest version of a flow between two revisions.
pub(crate) enum FlowDiff<'a> {
    Added(&'a LockedVersion),
    Removed(&'a LockedVersion),
    Changed {
        before: &'a LockedVersion,
        now: &'a LockedVersion,
        changes: Vec<Change>,
        impact: Impact,
    },
}

/// Prints what differs between two revisions.
pub(crate) fn run(options: &Options, command: &Diff) -> Result<bool, Error> {
    let mut sections = Vec::new();
    for dir in dirs(options, command)? {
        let before = revision::read(&dir, &command.before)?;
        let now = match &command.after {
            Some(after) => revision::read(&dir, after)?,
            None => revision::current(&dir)?,
        };
        let diffs = compare(&before, &now);
        if command.json {
            out::line(Value::Array(diffs.iter().map(as_json).collect()))?;
        } else if !diffs.is_empty() {
            sections.push(markdown::write(&diffs));
        }
    }
    if command.json {
        return Ok(true);
    }
    match &sections[..] {
        [] => out::line("No flow has changed.")?,
        sections => out::text(sections.join("\n"))?,
    }
    Ok(true)
}

/// Where revisions are looked up; two files are not looked up anywhere.
fn dirs(options: &Options, command: &Diff) -> Result<Vec<PathBuf>, Error> {
    let is_file = |revision: &String| Path::new(revision).is_file();
    if is_file(&command.before) && command.after.as_ref().is_some_and(is_file) {
        return Ok(vec![options.dir.clone()]);
    }
    Ok(options.crates()?.into_iter().map(|one| one.dir).collect())
}

fn compare<'a>(before: &'a Lock, now: &'a Lock) -> Vec<FlowDiff<'a>> {
    let slugs = |lock: &'a Lock| lock.versions.iter().map(|locked| &*locked.shape.slug);
    let all: BTreeSet<&str> = slugs(before).chain(slugs(now)).collect();
    all.into_iter()
        .filter_map(|slug| match (before.newest(slug), now.newest(slug)) {
            (None, Some(now)) => Some(FlowDiff::Added(now)),
            (Some(before), None) => Some(FlowDiff::Removed(before)),
            (Some(before), Some(now)) => {
                let changes = changes(&before.shape, &now.shape);
                let impact = Impact::of(&changes, &before.shape, &now.shape);
                let diff = FlowDiff::Changed { before, now, changes, impact };
                (impact != Impact::Nothing).then_some(diff)
            }
            (None, None) => None,
        })
        .collect()
}

fn as_json(diff: &FlowDiff<'_>) -> Value {
    match diff {
        FlowDiff::Added(now) => {
            json!({ "flow": now.shape.slug, "impact": "new", "version": now.version })
        }
        FlowDiff::Removed(before) => {
            json!({ "flow": before.shape.slug, "impact": "removed", "version": before.version })
        }
        FlowDiff::Changed { before, now, changes, impact } => json!({
            "flow": now.shape.slug,
            "impact": format!("{impact:?}").to_lowercase(),
            "before": before.version,
            "version": now.version,
            "changes": changes.iter().map(ToString::to_string).collect::<Vec<_>>(),
        }),
    }
}
