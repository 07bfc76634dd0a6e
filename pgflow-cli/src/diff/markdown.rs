//! A comparison as Markdown.

use std::fmt::Write as _;

use pgflow_model::{Change, Edit, FlowShape, Impact, LockedVersion, Part, Readable, StoredChange};

use super::FlowDiff;

/// All flows that differ, one section each.
pub(crate) fn write(diffs: &[FlowDiff<'_>]) -> String {
    diffs.iter().map(section).collect::<Vec<_>>().join("\n")
}

fn section(diff: &FlowDiff<'_>) -> String {
    match diff {
        FlowDiff::Added(now) => {
            format!("### Flow `{}`: new\n\n{}", now.shape.slug, graph("Graph", &now.shape))
        }
        FlowDiff::Dropped { before, migration, now } => {
            let (what, after) = match now {
                Some(now) => (" and created anew", graph("Graph now", &now.shape)),
                None => ("", String::new()),
            };
            format!(
                "### Flow `{}`: deleted{what}\n\n**`{migration}` deletes it and all its runs.**\n\n{after}",
                before.shape.slug
            )
        }
        FlowDiff::Changed { before, now, changes, impact, stored } => {
            let mut text = format!(
                "### Flow `{}`: {}\n\n**{}**\n\n",
                now.shape.slug,
                versions(before, now),
                sentence(&verdict(*impact, stored))
            );
            text += &table("Graph", changes, |part| matches!(part, Part::Kind | Part::DependsOn));
            text += &table("Types", changes, |part| matches!(part, Part::Type | Part::Format));
            text += &stored_table(stored);
            text += &table("Policies", changes, |part| {
                matches!(part, Part::Policy(_) | Part::Setting(_))
            });
            text += &graph("Graph before", &before.shape);
            text + "\n" + &graph("Graph now", &now.shape)
        }
    }
}

/// Data that cannot be read counts, whatever the graph says.
fn verdict(impact: Impact, stored: &[StoredChange]) -> String {
    let is_breaking = |change: &StoredChange| change.readable == Readable::Breaking;
    if stored.iter().any(is_breaking) {
        return format!(
            "stored data cannot be read any more: steps that need it are held back; {impact}"
        );
    }
    if impact == Impact::Nothing {
        return "stored data changes: the graph stays as it is".to_owned();
    }
    impact.to_string()
}

fn versions(before: &LockedVersion, now: &LockedVersion) -> String {
    if before.version == now.version {
        format!("version {}", now.version)
    } else {
        format!("version {} → {}", before.version, now.version)
    }
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// The changes of some parts; whole steps come with the graph.
fn table(title: &str, changes: &[Change], is_wanted: impl Fn(Part) -> bool) -> String {
    let mut rows = String::new();
    for change in changes {
        let step = change.step.as_ref().map_or("the flow".to_owned(), |slug| format!("`{slug}`"));
        let row = match &change.edit {
            Edit::Changed { part, before, now } if is_wanted(*part) => {
                Some((part.name(), cell(before.as_deref()), cell(now.as_deref())))
            }
            Edit::Added if is_wanted(Part::Kind) => Some(("step", cell(None), "added".to_owned())),
            Edit::Removed if is_wanted(Part::Kind) => {
                Some(("step", "removed".to_owned(), cell(None)))
            }
            Edit::Renamed(was) if is_wanted(Part::Kind) => {
                Some(("name", cell(Some(was)), cell(change.step.as_deref())))
            }
            _ => None,
        };
        if let Some((what, before, now)) = row {
            let _ = writeln!(rows, "| {step} | {what} | {before} | {now} |");
        }
    }
    if rows.is_empty() {
        return rows;
    }
    format!("| {title} | | before | now |\n|---|---|---|---|\n{rows}\n")
}

/// What runs store, and who can read what.
fn stored_table(stored: &[StoredChange]) -> String {
    let mut rows = String::new();
    for StoredChange { step, readable, changes } in stored {
        let place = step.as_ref().map_or("the run's input".to_owned(), |slug| format!("`{slug}`"));
        let told = changes.iter().map(|change| format!("`{}`: {}", change.path, change.what));
        let told = told.collect::<Vec<_>>().join("; ").replace('|', "\\|");
        let _ = writeln!(rows, "| {place} | **{readable}** | {told} |");
    }
    if rows.is_empty() {
        return rows;
    }
    format!("| Stored data | | what changes |\n|---|---|---|\n{rows}\n")
}

fn cell(text: Option<&str>) -> String {
    text.map_or("–".to_owned(), |text| format!("`{}`", text.replace('|', "\\|")))
}

fn graph(title: &str, shape: &FlowShape) -> String {
    format!(
        "<details><summary>{title}</summary>\n\n```mermaid\n{}```\n\n</details>\n",
        shape.to_mermaid()
    )
}
