//! `cargo pgflow check`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pgflow_build::{Comparison, FoundFlow, Plan, Problem, SourceLocation};
use pgflow_model::Impact;
use serde_json::{Value, json};

use crate::args::{Check, Options};
use crate::crates::Crate;
use crate::error::Error;
use crate::out;

/// Says what is missing. Returns whether nothing is.
pub(crate) fn run(options: &Options, command: &Check) -> Result<bool, Error> {
    let (mut flows, mut all) = (0, true);
    let mut seen: BTreeMap<String, (SourceLocation, PathBuf)> = BTreeMap::new();
    for one in options.crates()? {
        let mut plan = one.shown(one.migrations(Some(&command.place))?.plan()?);
        let shared: Vec<_> =
            plan.flows.iter().filter_map(|flow| shared(flow, &one, &mut seen)).collect();
        plan.problems.extend(shared);
        if command.json {
            out::json(as_json(&one, &plan))?;
        } else {
            report(&one, &plan);
        }
        all &= is_good(&plan);
        flows += plan.flows.len();
    }
    if all && !command.json {
        let flows = if flows == 1 { "1 flow".to_owned() } else { format!("{flows} flows") };
        out::line(format_args!("{flows}, up to date"))?;
    }
    Ok(all)
}

/// A flow that another crate has too: in one database they would be one flow.
fn shared(
    flow: &FoundFlow,
    one: &Crate,
    seen: &mut BTreeMap<String, (SourceLocation, PathBuf)>,
) -> Option<Problem> {
    let slug = &flow.shape.slug;
    let (place, dir) = seen.entry(slug.clone()).or_insert((flow.place.clone(), one.dir.clone()));
    (*dir != one.dir).then(|| {
        let text = format!(
            "flow `{slug}` is also in another crate, at {place}\nhelp: give one of them another `slug = \"…\"`, or check crates that never share a database one by one, with `--package`"
        );
        Problem::new(Some(flow.place.clone()), text)
    })
}

fn is_good(plan: &Plan) -> bool {
    plan.is_up_to_date()
        && plan.problems.is_empty()
        && plan.late_core.is_none()
        && plan.gone.is_empty()
}

/// What is wrong with the source, and what could not be seen of it.
pub(crate) fn report_source(plan: &Plan) {
    for (place, why) in &plan.unseen {
        out::note(format_args!("warning: {place}: {why}"));
    }
    for problem in &plan.problems {
        out::note(format_args!("error: {problem}"));
    }
    if let Some(why) = &plan.late_core {
        out::note(format_args!("error: {why}"));
    }
}

fn report(one: &Crate, plan: &Plan) {
    report_source(plan);
    for flow in plan.flows.iter().filter(|flow| !is_same(flow)) {
        out::note(format_args!("error: {}", drift(flow, plan)));
    }
    for file in &plan.superseded {
        out::note(format_args!(
            "error: {file} was never committed, and the source does not ask for it any more"
        ));
    }
    if plan.flows.iter().all(is_same) && plan.superseded.is_empty() && !plan.is_locked {
        let lock = one.path("pgflow.lock".as_ref());
        match &plan.relocated[..] {
            [] => out::note(format_args!("error: {lock} is not as the build would write it")),
            told => out::note(format_args!("error: {lock} is behind: {}", told.join("; "))),
        }
    }
    for told in plan.gone_told() {
        out::note(format_args!("error: {told}"));
    }
    if !plan.is_up_to_date() {
        out::note(format_args!("help: run `cargo pgflow migrate`, and commit what it writes"));
    }
}

fn is_same(flow: &FoundFlow) -> bool {
    matches!(flow.comparison, Comparison::With { impact: Impact::Nothing, .. })
}

fn drift(flow: &FoundFlow, plan: &Plan) -> String {
    let (place, slug) = (&flow.place, &flow.shape.slug);
    match &flow.comparison {
        Comparison::New if plan.outdated.contains(slug) => {
            format!("{place}: flow `{slug}` has changed since its migration was written")
        }
        Comparison::New => format!("{place}: flow `{slug}` has no migration"),
        Comparison::With { version, changes, impact } => {
            let lines: Vec<_> = changes.iter().map(ToString::to_string).collect();
            let lines = lines.join("\n  ");
            format!(
                "{place}: flow `{slug}` has changed since version {version}\n  {lines}\nnote: {impact}"
            )
        }
    }
}

fn as_json(one: &Crate, plan: &Plan) -> Value {
    let flow = |flow: &FoundFlow| {
        let (version, impact, changes) = match &flow.comparison {
            Comparison::New => (None, "new".to_owned(), Vec::new()),
            Comparison::With { version, changes, impact } => (
                Some(*version),
                format!("{impact:?}").to_lowercase(),
                changes.iter().map(ToString::to_string).collect(),
            ),
        };
        json!({
            "flow": flow.shape.slug,
            "place": flow.place.to_string(),
            "version": version,
            "impact": impact,
            "changes": changes,
        })
    };
    json!({
        "crate": one.place(),
        "upToDate": is_good(plan),
        "missing": plan.files.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "flows": plan.flows.iter().map(flow).collect::<Vec<_>>(),
        "gone": plan.gone,
        "problems": plan.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "unseen": plan.unseen.iter().map(|(place, why)| format!("{place}: {why}")).collect::<Vec<_>>(),
    })
}
