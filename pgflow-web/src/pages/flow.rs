//! A flow: its graph, its versions, how its steps do, and what it takes.

use std::time::Duration;

use axum::Router;
use axum::response::Html;
use axum::routing::get;
use maud::{Markup, html};
use pgflow_model::{FlowShape, StepKind, StepShape};
use pgflow_runtime::backend::{Definition, FlowRecord, StepStatistics};
use serde::Deserialize;

use super::{flows, runs};
use crate::app::App;
use crate::error::PageError;
use crate::graph::{Node, draw};
use crate::html::{payload, shell, time};
use crate::query::encoded;
use crate::request::{Asked, Path, Query};

/// Runs that began longer ago say nothing about how its steps do.
const WINDOW: Duration = Duration::from_hours(24);

pub(super) fn routes() -> Router<App> {
    Router::new().route("/flows/{flow}", get(show))
}

#[derive(Debug, Deserialize)]
struct Chosen {
    version: Option<u32>,
}

async fn show(
    asked: Asked,
    Path(flow): Path<String>,
    Query(chosen): Query<Chosen>,
) -> Result<Html<String>, PageError> {
    let backend = asked.app.db.backend();
    let mut versions = backend.flows().await?;
    versions.retain(|record| record.flow == flow);
    let record = choose(&versions, chosen.version).ok_or_else(|| {
        PageError::NotFound(format!("there is no such version of a flow `{flow}`"))
    })?;
    let gone = || PageError::NotFound(format!("there is no flow `{}`", record.slug));
    let definition = backend.definition(&record.slug).await?.ok_or_else(gone)?;
    let statistics = backend.step_statistics(&record.slug, WINDOW).await?;
    let body = html! {
        h1 { "Flow " (flow) }
        p { a href={ (asked.base) (runs::PAGE.path) "?flow=" (encoded(&flow)) } { "Its runs" } }
        (version_chips(&asked.base, &versions, record))
        div.picture tabindex="0" role="region" aria-label="Graph of the flow" {
            (draw(&nodes(&definition.shape), "Steps of the flow"))
        }
        (steps(&definition.shape, &statistics))
        (schema(&definition))
    };
    Ok(shell::page(&asked, &flow, flows::PAGE.path, &body))
}

/// The version that was asked for, or the one that new runs use.
fn choose(versions: &[FlowRecord], number: Option<u32>) -> Option<&FlowRecord> {
    match number {
        Some(number) => versions.iter().find(|record| record.version == number),
        None => versions.iter().find(|record| record.is_current).or(versions.last()),
    }
}

fn version_chips(base: &str, versions: &[FlowRecord], chosen: &FlowRecord) -> Markup {
    html! {
        nav.chips aria-label="Versions" {
            @for record in versions {
                a href=(flows::href(base, record)) aria-current=[(record == chosen).then_some("true")] {
                    "version " (record.version) @if record.is_current { " (current)" }
                }
            }
        }
    }
}

fn nodes<'a>(shape: &'a FlowShape) -> Vec<Node<'a>> {
    let index = |slug: &String| shape.steps.iter().position(|step| step.slug == *slug);
    let node = |step: &'a StepShape| {
        let StepShape { slug, depends_on, .. } = step;
        Node {
            slug,
            depends_on: depends_on.iter().filter_map(index).collect(),
            look: None,
            ring: (step.kind == StepKind::Map).then_some(0),
            note: note(step),
            href: format!("#step-{}", encoded(slug)),
        }
    };
    shape.steps.iter().map(node).collect()
}

fn note(step: &StepShape) -> String {
    let kind = if step.kind == StepKind::Map { "map" } else { "single" };
    if step.has_condition() { format!("{kind}, conditional") } else { kind.to_owned() }
}

fn steps(shape: &FlowShape, statistics: &[StepStatistics]) -> Markup {
    let of = |slug: &str| statistics.iter().find(|of| of.slug == slug).cloned().unwrap_or_default();
    let took = |took: Option<Duration>| took.map(time::duration).unwrap_or_default();
    html! {
        h2 { "Steps, in runs of the last day" }
        div.scroll tabindex="0" role="region" aria-label="Steps" {
            table {
                thead { tr { th scope="col" { "Step" } th scope="col" { "Depends on" } th.number scope="col" { "Completed" } th.number scope="col" { "Failed" } th.number scope="col" { "Skipped" } th.number scope="col" { "Fail rate" } th.number scope="col" { "p50" } th.number scope="col" { "p95" } } }
                tbody {
                    @for step in &shape.steps {
                        @let of = of(&step.slug);
                        tr id={ "step-" (step.slug) } {
                            th scope="row" { (step.slug) }
                            td { (step.depends_on.join(", ")) }
                            td.number { (of.completed) }
                            td.number { (of.failed) }
                            td.number { (of.skipped) }
                            td.number { (format!("{:.1} %", of.fail_rate() * 100.0)) }
                            td.number { (took(of.p50)) }
                            td.number { (took(of.p95)) }
                        }
                    }
                }
            }
        }
    }
}

fn schema(definition: &Definition) -> Markup {
    html! {
        h2 { "Schema of the input" }
        @match &definition.input_schema {
            Some(schema) => (payload::json(schema)),
            None => p.none { "No program has noted one." },
        }
    }
}
