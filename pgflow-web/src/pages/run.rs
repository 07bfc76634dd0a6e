//! A run: its graph as it is now, and what is known of one of its steps.

use std::collections::HashMap;

use axum::Router;
use axum::response::Html;
use axum::routing::get;
use maud::{Markup, html};
use pgflow_runtime::{RunId, RunStatus};

use super::detail::{Chosen, detail};
use super::{runs, timeline};
use crate::app::App;
use crate::error::PageError;
use crate::graph::{Node, draw};
use crate::html::status::badge;
use crate::html::{payload, shell, time};
use crate::live::Frame;
use crate::query::encoded;
use crate::request::{Asked, Path, Query};
use crate::run_view::{RunView, StepView};
use crate::{actions, signal_action};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/runs/{id}", get(show))
}

/// The id in a path.
pub(crate) fn id_of(text: &str) -> Result<RunId, PageError> {
    text.parse()
        .map_err(|error: pgflow_runtime::InvalidRunId| PageError::NotFound(error.to_string()))
}

async fn show(
    asked: Asked,
    Path(id): Path<String>,
    Query(chosen): Query<Chosen>,
) -> Result<Html<String>, PageError> {
    let id = id_of(&id)?;
    let view = RunView::read(&asked.app, id).await?;
    let detail = detail(&asked, &view, &chosen).await?;
    let region = region(&asked.app, &view);
    let live = format!("{}/live/runs/{id}?seen={}", asked.base, Frame::id_of(&region));
    let body = html! {
        h1 { "Run " span.id { (id) } }
        @if let Some(notice) = chosen.notice() { p.notice role="status" { (notice) } }
        div.run {
            (actions::forms(&asked, id))
            (signal_action::forms(&asked, &view))
            div.live data-live=(live) { (region) }
            aside #detail aria-live="polite" { (detail) }
        }
    };
    Ok(shell::page(&asked, &format!("Run {id}"), runs::PAGE.path, &body))
}

/// What changes while people look at it. It is the same for all of them, whoever they are: links lead from the page
/// they are on.
pub(crate) fn region(app: &App, view: &RunView) -> Markup {
    let steps: Vec<StepView<'_>> = view.steps().collect();
    html! {
        div data-status=(view.record.status) {
            (summary(app, view))
            div.picture tabindex="0" role="region" aria-label="Graph of the run" {
                (draw(&nodes(view, &steps), "Steps of the run"))
            }
            (timeline::table(view, &steps))
        }
    }
}

fn summary(app: &App, view: &RunView) -> Markup {
    let record = &view.record;
    let reason = record.cancel_reason.as_deref();
    let reason = reason.map(|reason| app.options.redacted_error(&record.flow, None, reason));
    html! {
        dl.facts {
            div { dt { "Status" } dd { (badge(record.status)) } }
            div { dt { "Flow" } dd { (record.flow) } }
            div { dt { "Started" } dd { (time::moment(record.started_at)) } }
            @match view.took() {
                Some(took) => div { dt { "Took" } dd { (time::duration(took)) } },
                None => div { dt { "Running" } dd { (time::since(record.started_at)) } },
            }
            @if record.status == RunStatus::Started {
                div { dt { "Steps left" } dd { (record.remaining_steps) } }
            }
        }
        @if let Some(reason) = reason { h2 { "Why it was cancelled" } (payload::error(&reason)) }
        @if let Some(failed) = view.steps().find(|step| step.record.status == pgflow_runtime::StepStatus::Failed) {
            p.failure {
                "Step " a href=(href(&failed.record.slug)) data-step=(failed.record.slug) { (failed.record.slug) } " failed: "
                (first_line(&app.options.redacted_error(&record.flow, Some(&failed.record.slug), failed.error().unwrap_or("no reason was given"))))
            }
        }
    }
}

fn nodes<'a>(view: &'a RunView, steps: &[StepView<'a>]) -> Vec<Node<'a>> {
    let places: HashMap<_, _> =
        steps.iter().enumerate().map(|(place, step)| (&*step.record.slug, place)).collect();
    let index = |slug: &String| places.get(&**slug).copied();
    let node = |step: &StepView<'a>| Node {
        slug: &step.record.slug,
        depends_on: view.depends_on(&step.record.slug).iter().filter_map(index).collect(),
        look: Some(step.look),
        ring: step.ring(),
        note: note(step),
        href: href(&step.record.slug),
    };
    steps.iter().map(node).collect()
}

/// The page that somebody is on, with this step chosen.
pub(super) fn href(step: &str) -> String {
    format!("?step={}", encoded(step))
}

/// A few words about what a step is doing.
fn note(step: &StepView<'_>) -> String {
    let words = match step.tasks() {
        (done, Some(all)) if step.record.is_map => format!("{done} of {all}"),
        _ => step.look.word().to_owned(),
    };
    let attempts = step.record.work.as_ref().map_or(0, |work| work.attempts);
    match step.took() {
        Some(took) => format!("{words}, {}", time::duration(took)),
        None if attempts > 1 && !step.record.is_map => format!("{words}, {attempts} attempts"),
        None => words,
    }
}

/// The beginning of an error, for where there is little room.
pub(super) fn first_line(text: &str) -> String {
    const LONGEST: usize = 240;
    let line = text.lines().next().unwrap_or("");
    let shown = &line[..line.floor_char_boundary(LONGEST)];
    if shown.len() < line.len() { format!("{shown}…") } else { shown.to_owned() }
}
