//! All flows, and what waits in their queues.

use axum::Router;
use axum::response::Html;
use axum::routing::get;
use maud::{Markup, html};
use pgflow_runtime::backend::{FlowRecord, QueueDepth};

use super::{Page, flow};
use crate::app::App;
use crate::error::PageError;
use crate::html::{shell, time};
use crate::query::encoded;
use crate::request::Asked;

pub(super) const PAGE: Page = Page { path: "/flows", title: "Flows", routes };

fn routes() -> Router<App> {
    Router::new().route(PAGE.path, get(show)).merge(flow::routes())
}

async fn show(asked: Asked) -> Result<Html<String>, PageError> {
    let backend = asked.app.db.backend();
    let (flows, queues) = (backend.flows().await?, backend.queues().await?);
    let body = html! {
        h1 { "Flows" }
        @if flows.is_empty() { p.none { "The database knows no flow yet." } } @else { (table(&asked.base, &flows, &queues)) }
    };
    Ok(shell::page(&asked, "Flows", PAGE.path, &body))
}

fn table(base: &str, flows: &[FlowRecord], queues: &[QueueDepth]) -> Markup {
    let queue =
        |slug: &str| queues.iter().find(|queue| queue.slug == slug).cloned().unwrap_or_default();
    html! {
        div.scroll tabindex="0" role="region" aria-label="Flows" {
            table {
                thead { tr { th scope="col" { "Flow" } th.number scope="col" { "Version" } th.number scope="col" { "Steps" } (depth_heads()) } }
                tbody {
                    @for record in flows {
                        tr {
                            th scope="row" { a href=(href(base, record)) { (record.flow) } }
                            td.number { (record.version) @if record.is_current { span.current { " current" } } }
                            td.number { (record.steps) }
                            (depth_cells(&queue(&record.slug)))
                        }
                    }
                }
            }
        }
    }
}

/// Where a version is.
pub(super) fn href(base: &str, record: &FlowRecord) -> String {
    format!("{base}{}/{}?version={}", PAGE.path, encoded(&record.flow), record.version)
}

/// What waits, by version.
pub(super) fn queue_table(base: &str, queues: &[QueueDepth]) -> Markup {
    html! {
        @if queues.is_empty() { p.none { "There are none." } } @else {
            div.scroll tabindex="0" role="region" aria-label="Queues" {
                table {
                    thead { tr { th scope="col" { a href={ (base) (PAGE.path) } { "Flow" } } (depth_heads()) } }
                    tbody { @for queue in queues { tr { th scope="row" { (queue.slug) } (depth_cells(queue)) } } }
                }
            }
        }
    }
}

fn depth_heads() -> Markup {
    html! { @for head in ["Ready", "Delayed", "Running", "Oldest"] { th.number scope="col" { (head) } } }
}

fn depth_cells(queue: &QueueDepth) -> Markup {
    html! {
        td.number { (queue.ready) }
        td.number { (queue.delayed) }
        td.number { (queue.running) }
        td.number { @if let Some(oldest) = queue.oldest_ready { (time::whole_seconds(oldest)) } }
    }
}
