//! Who works.

use axum::Router;
use axum::response::Html;
use axum::routing::get;
use maud::{Markup, html};
use pgflow_runtime::backend::{WorkerQuery, WorkerRecord};
use pgflow_runtime::{Timestamp, WorkerId};
use serde::Deserialize;

use super::Page;
use crate::app::App;
use crate::error::PageError;
use crate::html::{shell, time};
use crate::request::{Asked, Query};

pub(super) const PAGE: Page = Page { path: "/workers", title: "Workers", routes };

const MAX: u32 = 200;

fn routes() -> Router<App> {
    Router::new().route(PAGE.path, get(show))
}

#[derive(Debug, Deserialize)]
struct Filter {
    #[serde(default)]
    gone: bool,
    /// The last of the page before.
    #[serde(default)]
    after: String,
}

/// The worker that an address names.
fn after(text: &str) -> Result<Option<WorkerId>, PageError> {
    let wrong = |_| PageError::Wrong(format!("`{text}` is not the end of a page of workers"));
    if text.is_empty() { Ok(None) } else { text.parse().map(WorkerId).map(Some).map_err(wrong) }
}

async fn show(asked: Asked, Query(filter): Query<Filter>) -> Result<Html<String>, PageError> {
    let backend = asked.app.db.backend();
    let query = WorkerQuery { with_gone: filter.gone, after: after(&filter.after)?, max: MAX };
    let (workers, now) = (backend.workers(&query).await?, backend.now().await?);
    let last = workers.last().filter(|_| workers.len() >= MAX as usize);
    let href = |gone: bool| format!("{}{}?gone={gone}", asked.base, PAGE.path);
    let body = html! {
        h1 { "Workers" }
        nav.chips aria-label="Which workers" {
            a href=(href(false)) aria-current=[(!filter.gone).then_some("true")] { "not signed off" }
            a href=(href(true)) aria-current=[filter.gone.then_some("true")] { "all" }
        }
        @if workers.is_empty() { p.none { "There are none." } } @else { (table(&workers, now)) }
        nav.paging aria-label="Paging" {
            @if !filter.after.is_empty() { a href=(href(filter.gone)) { "First" } }
            @if let Some(last) = last { a rel="next" href={ (href(filter.gone)) "&after=" (last.id.0) } { "More" } }
        }
    };
    Ok(shell::page(&asked, "Workers", PAGE.path, &body))
}

fn table(workers: &[WorkerRecord], now: Timestamp) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Workers" {
            table {
                thead { tr { th scope="col" { "Worker" } th scope="col" { "State" } th scope="col" { "Host" } th.number scope="col" { "Running" } th scope="col" { "Serves" } th scope="col" { "Since" } th scope="col" { "Last heard of" } } }
                tbody {
                    @for worker in workers {
                        tr {
                            th.id scope="row" { (worker.id.0) }
                            td { (state(worker, now)) }
                            td { (worker.host.as_deref().unwrap_or("–")) @if let Some(pid) = worker.pid { " · " (pid) } }
                            td.number { (worker.running) @if let Some(slots) = worker.slots { " / " (slots) } }
                            td { (worker.serves()) }
                            td { (time::moment(worker.started_at)) }
                            td { (time::moment(worker.seen_at)) }
                        }
                    }
                }
            }
        }
    }
}

fn state(worker: &WorkerRecord, now: Timestamp) -> Markup {
    let (class, word) = match worker {
        worker if worker.is_alive(now) => ("is-completed", "alive"),
        worker if worker.is_lost(now) => ("is-failed", "lost"),
        _ => ("is-skipped", "signed off"),
    };
    html! { span class={ "badge " (class) } { (word) } }
}
