//! `cargo pgflow diff`.

mod markdown;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pgflow_model::{
    Change, Impact, Lock, LockedVersion, StoredChange, StoredSchemas, changes, version_slug,
};
use serde_json::{Value, json};

use crate::args::{Diff, Options};
use crate::error::Error;
use crate::{out, revision};

/// What happened to the newest version of a flow between two revisions.
pub(crate) enum FlowDiff<'a> {
    Added(&'a LockedVersion),
    /// Its migration deletes it and all its runs; it may have been created anew after that.
    Dropped {
        before: &'a LockedVersion,
        migration: &'a str,
        now: Option<&'a LockedVersion>,
    },
    Changed {
        before: &'a LockedVersion,
        now: &'a LockedVersion,
        changes: Vec<Change>,
        impact: Impact,
        /// What newer code reads and writes in another form.
        stored: Vec<StoredChange>,
    },
}

/// What a revision says of the flows of a crate.
pub(crate) struct Revision {
    pub(crate) lock: Lock,
    pub(crate) schemas: StoredSchemas,
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
            out::json(Value::Array(diffs.iter().map(as_json).collect()))?;
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

fn compare<'a>(before: &'a Revision, now: &'a Revision) -> Vec<FlowDiff<'a>> {
    let revisions = (before, now);
    let (before, now) = (&before.lock, &now.lock);
    let slugs = |lock: &'a Lock| lock.versions.iter().map(|locked| &*locked.shape.slug);
    let all: BTreeSet<&str> = slugs(before).chain(slugs(now)).collect();
    all.into_iter()
        .filter_map(|slug| match (before.newest(slug), now.newest(slug)) {
            (None, Some(now)) => Some(FlowDiff::Added(now)),
            (Some(known), None) => {
                let migration = dropped(slug, before, now).unwrap_or("a migration");
                Some(FlowDiff::Dropped { before: known, migration, now: None })
            }
            (Some(known), Some(again)) if let Some(migration) = dropped(slug, before, now) => {
                Some(FlowDiff::Dropped { before: known, migration, now: Some(again) })
            }
            (Some(before), Some(now)) => {
                let changes = changes(&before.shape, &now.shape);
                let impact = Impact::of(&changes, &before.shape, &now.shape);
                let stored = stored(revisions, before, now);
                let is_same = impact == Impact::Nothing && stored.is_empty();
                let diff = FlowDiff::Changed { before, now, changes, impact, stored };
                (!is_same).then_some(diff)
            }
            (None, None) => None,
        })
        .collect()
}

/// How what runs store differs, if the code of one version finishes runs of the other.
fn stored(
    (before, now): (&Revision, &Revision),
    old: &LockedVersion,
    new: &LockedVersion,
) -> Vec<StoredChange> {
    let flow = &new.shape.slug;
    let data = |revision: &'_ Revision, version: u32| {
        let slug = version_slug(flow, version).ok()?;
        revision.schemas.versions.get(&slug).cloned()
    };
    let renamed = if old.version == new.version {
        Some(Vec::new())
    } else {
        let finishable = now.lock.finishable(flow, new.version);
        finishable.into_iter().find(|it| it.version == old.version).map(|it| it.renamed)
    };
    match (data(before, old.version), data(now, new.version), renamed) {
        (Some(old), Some(new), Some(renamed)) => new.since(&old, &renamed),
        _ => Vec::new(),
    }
}

/// The migration that has deleted a flow between two revisions.
fn dropped<'a>(flow: &str, before: &Lock, now: &'a Lock) -> Option<&'a str> {
    let is_new = |drop: &&(String, String)| drop.0 == flow && !before.dropped.contains(drop);
    now.dropped.iter().filter(is_new).map(|(_, migration)| &**migration).next_back()
}

fn as_json(diff: &FlowDiff<'_>) -> Value {
    match diff {
        FlowDiff::Added(now) => {
            json!({ "flow": now.shape.slug, "impact": "new", "version": now.version })
        }
        FlowDiff::Dropped { before, migration, now } => json!({
            "flow": before.shape.slug,
            "impact": if now.is_some() { "recreated" } else { "removed" },
            "before": before.version,
            "version": now.map(|now| now.version),
            "migration": migration,
        }),
        FlowDiff::Changed { before, now, changes, impact, stored } => json!({
            "flow": now.shape.slug,
            "impact": format!("{impact:?}").to_lowercase(),
            "before": before.version,
            "version": now.version,
            "changes": changes.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "stored": stored.iter().map(StoredChange::to_json).collect::<Vec<_>>(),
        }),
    }
}
