//! The text of a migration.

use std::fmt::Write as _;

use pgflow_model::{
    Change, Edit, FlowShape, Impact, InvalidSlug, LockedVersion, Operation, Part, version_slug,
};

use crate::directory::MARK;
use crate::style::Style;

/// A migration that has no number yet.
#[derive(Debug)]
pub(crate) struct Migration {
    /// What its file is called after the number.
    pub(crate) title: String,
    pub(crate) text: String,
}

/// Creates a version of a flow. `changes` is what it has over the version before.
pub(crate) fn create(
    shape: &FlowShape,
    version: u32,
    changes: &[Change],
    impact: Impact,
    style: Style,
) -> Result<Migration, InvalidSlug> {
    let slug = version_slug(&shape.slug, version)?;
    let mut header = header(&shape.slug, version);
    if version > 1 {
        describe(&mut header, &format!("Differs from version {}", version - 1), changes, impact);
    }
    let sql = Operation::CreateVersion { version, slug, shape: shape.clone() }.to_sql();
    Ok(Migration {
        title: format!("create_{}", titled(&shape.slug, version)),
        text: style.wrap(&header, &sql),
    })
}

/// Changes options of a version.
pub(crate) fn tune(
    shape: &FlowShape,
    version: u32,
    changes: &[Change],
    style: Style,
) -> Result<Migration, InvalidSlug> {
    let slug = version_slug(&shape.slug, version)?;
    let mut header = header(&shape.slug, version);
    describe(&mut header, "Changes options", changes, Impact::Options);
    let is_option =
        |change: &&Change| matches!(change.edit, Edit::Changed { part: Part::Setting(_), .. });
    let mut steps: Vec<_> =
        changes.iter().filter(is_option).map(|change| change.step.as_deref()).collect();
    steps.dedup();
    let sql: String = steps.into_iter().map(|step| set_options(shape, step, &slug)).collect();
    Ok(Migration {
        title: format!("tune_{}", titled(&shape.slug, version)),
        text: style.wrap(&header, &sql),
    })
}

fn set_options(shape: &FlowShape, step: Option<&str>, slug: &str) -> String {
    let slug = slug.to_owned();
    match step {
        None => Operation::SetFlowOptions { slug, options: shape.options },
        Some(step) => {
            let options = shape.step(step).map(|step| step.options).unwrap_or_default();
            Operation::SetStepOptions { slug, step: step.to_owned(), options }
        }
    }
    .to_sql()
}

/// Deletes all versions of a flow with their runs, newest first.
pub(crate) fn drop<'a>(
    flow: &str,
    versions: impl DoubleEndedIterator<Item = &'a LockedVersion>,
    style: Style,
) -> Migration {
    let header = format!(
        "{MARK}{flow} dropped\n-- Deletes the flow and everything that ever ran on it, as asked for \
         with `cargo pgflow migrate --drop {flow}`.\n"
    );
    let slugs = versions.rev().filter_map(|locked| version_slug(flow, locked.version).ok());
    let sql: String = slugs.map(|slug| Operation::DeleteVersion { slug }.to_sql()).collect();
    Migration { title: format!("drop_{flow}"), text: style.wrap(&header, &sql) }
}

fn header(flow: &str, version: u32) -> String {
    format!(
        "{MARK}{flow} v{version}\n\
         -- Written by pgflow when the crate was built. Do not edit it: pgflow.lock has its checksum.\n"
    )
}

fn describe(header: &mut String, what: &str, changes: &[Change], impact: Impact) {
    let _ = writeln!(header, "-- {what}; {impact}.");
    for change in changes {
        // A type may be written on several lines, and the comment must not end.
        let _ = writeln!(header, "--   {}", change.to_string().replace(['\n', '\r'], " "));
    }
}

fn titled(flow: &str, version: u32) -> String {
    if version > 1 { format!("{flow}_v{version}") } else { flow.to_owned() }
}
