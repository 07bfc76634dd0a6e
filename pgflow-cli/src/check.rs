//! `cargo pgflow check`.

use std::process::ExitCode;

use pgflow_build::{Comparison, FoundFlow, Plan};
use pgflow_model::Impact;
use serde_json::{Value, json};

use crate::args::{Check, Options};
use crate::error::Error;

/// Says what is missing; fails if anything is.
pub(crate) fn run(options: &Options, command: &Check) -> Result<ExitCode, Error> {
    let plan = options.migrations(Some(&command.place))?.plan()?;
    if command.json {
        println!("{}", as_json(&plan));
    } else {
        report(&plan);
    }
    let is_good = plan.is_up_to_date() && plan.problems.is_empty();
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn report(plan: &Plan) {
    for (place, why) in &plan.unseen {
        eprintln!("warning: {place}: {why}");
    }
    for problem in &plan.problems {
        eprintln!("error: {problem}");
    }
    for flow in plan.flows.iter().filter(|flow| !is_same(flow)) {
        eprintln!("error: {}", drift(flow));
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

fn as_json(plan: &Plan) -> Value {
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
        "upToDate": plan.is_up_to_date() && plan.problems.is_empty(),
        "missing": plan.files.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "flows": plan.flows.iter().map(flow).collect::<Vec<_>>(),
        "gone": plan.gone,
        "problems": plan.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "unseen": plan.unseen.iter().map(|(place, why)| format!("{place}: {why}")).collect::<Vec<_>>(),
    })
}
