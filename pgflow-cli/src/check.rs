//! `cargo pgflow check`.

use pgflow_build::{Comparison, FoundFlow, Plan};
use pgflow_model::Impact;
use serde_json::{Value, json};

use crate::args::{Check, Options};
use crate::crates::Crate;
use crate::error::Error;
use crate::out;

/// Says what is missing. Returns whether nothing is.
pub(crate) fn run(options: &Options, command: &Check) -> Result<bool, Error> {
    let (mut flows, mut all) = (0, true);
    for one in options.crates()? {
        let plan = one.shown(one.migrations(Some(&command.place))?.plan()?);
        if command.json {
            out::line(as_json(&one, &plan))?;
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

fn is_good(plan: &Plan) -> bool {
    plan.is_up_to_date() && plan.problems.is_empty()
}

/// What is wrong with the source, and what could not be seen of it.
pub(crate) fn report_source(plan: &Plan) {
    for (place, why) in &plan.unseen {
        eprintln!("warning: {place}: {why}");
    }
    for problem in &plan.problems {
        eprintln!("error: {problem}");
    }
}

fn report(one: &Crate, plan: &Plan) {
    report_source(plan);
    for flow in plan.flows.iter().filter(|flow| !is_same(flow)) {
        eprintln!("error: {}", drift(flow));
    }
    if plan.flows.iter().all(is_same) && !plan.is_locked {
        let lock = one.path("pgflow.lock".as_ref());
        eprintln!("error: {lock} has other names of files, or another place for them");
    }
    for flow in &plan.gone {
        eprintln!("note: flow `{flow}` is in pgflow.lock and no longer in the source");
    }
    if !plan.is_up_to_date() {
        eprintln!("help: run `cargo pgflow migrate`, and commit what it writes");
    }
}

fn is_same(flow: &FoundFlow) -> bool {
    matches!(flow.comparison, Comparison::With { impact: Impact::Nothing, .. })
}

fn drift(flow: &FoundFlow) -> String {
    let (place, slug) = (&flow.place, &flow.shape.slug);
    match &flow.comparison {
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
