//! Who works.

use axum::Router;
use axum::extract::Query;
use axum::response::Html;
use axum::routing::get;
use maud::{Markup, html};
use pgflow_runtime::Timestamp;
use pgflow_runtime::backend::{WorkerQuery, WorkerRecord};
use serde::Deserialize;

use super::Page;
use crate::app::App;
use crate::error::PageError;
use crate::html::{shell, time};
use crate::request::Asked;

pub(super) const PAGE: Page = Page { path: "/workers", title: "Workers", routes };

const MAX: u32 = 200;

fn routes() -> Router<App> {
    Router::new().route(PAGE.path, get(show))
}

#[derive(Debug, Deserialize)]
struct Filter {
    #[serde(default)]
    gone: bool,
}

async fn show(asked: Asked, Query(filter): Query<Filter>) -> Result<Html<String>, PageError> {
    let backend = asked.app.db.backend();
    let query = WorkerQuery { with_gone: filter.gone, max: MAX, ..WorkerQuery::default() };
    let (workers, now) = (backend.workers(&query).await?, backend.now().await?);
    let href = |gone: bool| format!("{}{}?gone={gone}", asked.base, PAGE.path);
    let body = html! {
        h1 { "Workers" }
        nav.chips aria-label="Which workers" {
            a href=(href(false)) aria-current=[(!filter.gone).then_some("true")] { "not signed off" }
            a href=(href(true)) aria-current=[filter.gone.then_some("true")] { "all" }
        }
        @if workers.is_empty() { p.none { "There are none." } } @else { (table(&workers, now)) }
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
