//! Queues: what waits for each version of a flow and for each need of jobs, rates and resources.

use std::collections::BTreeMap;

use axum::Router;
use axum::response::Html;
use axum::routing::get;
use maud::{Markup, html};
use pgflow_runtime::Timestamp;
use pgflow_runtime::backend::{BackendError, JobDepths, PausedNeed, QueueDepth};
use pgflow_runtime::client::ClientError;
use pgflow_runtime::pipeline::{Bucket, FormedBatches, Resource};

use super::{Page, flows, jobs};
use crate::app::App;
use crate::error::PageError;
use crate::html::{shell, time};
use crate::named_actions::{Done, QUEUES, button};
use crate::request::{Asked, Query};

pub(super) const PAGE: Page = Page { path: "/queues", title: "Queues", routes };

fn routes() -> Router<App> {
    Router::new().route(PAGE.path, get(show))
}

/// All that is on the page.
struct Queues {
    now: Timestamp,
    flows: Vec<QueueDepth>,
    needs: JobDepths,
    /// Needs, and queues.
    paused: [Vec<PausedNeed>; 2],
    permits: Result<Permits, String>,
}

/// What claims of pipelines take besides messages.
struct Permits {
    rates: BTreeMap<String, Bucket>,
    resources: BTreeMap<String, (Resource, u32)>,
    formed: BTreeMap<String, FormedBatches>,
}

impl Queues {
    async fn read(app: &App) -> Result<Self, PageError> {
        let (backend, db) = (app.db.backend(), &app.db);
        let (needs, paused) = if db.has_jobs() {
            let paused = [db.paused_needs().await?, db.paused_queues().await?];
            (db.job_depths_of(jobs::COUNTED).await?, paused)
        } else {
            Default::default()
        };
        let (now, flows) = (backend.now().await?, backend.queues().await?);
        Ok(Self { now, flows, needs, paused, permits: Permits::read(app).await? })
    }
}

impl Permits {
    /// A database that keeps none says so.
    async fn read(app: &App) -> Result<Result<Self, String>, PageError> {
        let rates = match app.db.rates().await {
            Err(ClientError::Backend(error @ BackendError::Unsupported { .. })) => {
                return Ok(Err(error.to_string()));
            }
            rates => rates?,
        };
        let (resources, formed) = (app.db.resources().await?, app.db.formed_batches().await?);
        Ok(Ok(Self { rates, resources, formed }))
    }
}

async fn show(asked: Asked, Query(done): Query<Done>) -> Result<Html<String>, PageError> {
    let all = Queues::read(&asked.app).await?;
    let Queues { needs, paused: [paused, queues], .. } = &all;
    let body = html! {
        h1 { "Queues" }
        (done.notice())
        section { h2 { "Flows" } (flows::queue_table(&asked.base, &all.flows)) }
        section {
            h2 { "Needs of jobs and messages" }
            (jobs::need_table(&asked.base, &needs.needs, needs.is_part, Some(&steering(&asked, paused))))
        }
        @if !queues.is_empty() { section { h2 { "Paused" } (paused_table(&asked, queues)) } }
        @match &all.permits {
            Err(sentence) => p.none { "Rates and resources: " (sentence) "." },
            Ok(permits) => {
                @if !permits.formed.is_empty() { section { h2 { "Batches" } (batch_table(&permits.formed)) } }
                section { h2 { "Rates" } (rate_table(&permits.rates, all.now)) }
                section { h2 { "Resources" } (resource_table(&permits.resources)) }
            },
        }
    };
    Ok(shell::page(&asked, "Queues", PAGE.path, &body))
}

/// What can be done about a need, for those who may.
fn steering<'a>(asked: &'a Asked, paused: &'a [PausedNeed]) -> impl Fn(&str) -> Markup + 'a {
    |need: &str| {
        let is_paused = paused.iter().any(|paused| paused.need == need);
        html! {
            @if is_paused { span class="badge is-cancelled" { "paused" } }
            @else { (button(asked, QUEUES, "pause", need, "Pause")) }
        }
    }
}

fn paused_table(asked: &Asked, paused: &[PausedNeed]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Paused" {
            table {
                thead { tr { th scope="col" { "Need" } th scope="col" { "Since" } th scope="col" { "By" } th scope="col" {} } }
                tbody {
                    @for paused in paused {
                        tr {
                            th scope="row" { (paused.need) }
                            td { (time::moment(paused.since)) }
                            td { (paused.by) }
                            td { (button(asked, QUEUES, "resume", &paused.need, "Resume")) }
                        }
                    }
                }
            }
        }
    }
}

fn rate_table(rates: &BTreeMap<String, Bucket>, now: Timestamp) -> Markup {
    html! {
        @if rates.is_empty() { p.none { "There are none." } } @else {
            div.scroll tabindex="0" role="region" aria-label="Rates" {
                table {
                    thead { tr { th scope="col" { "Rate" } th scope="col" { "Amount" } th.number scope="col" { "Left now" } th scope="col" { "Declared" } } }
                    tbody {
                        @for (name, bucket) in rates {
                            tr {
                                th scope="row" { (name) }
                                td { @if bucket.rate.amount() == 0 { span class="badge is-cancelled" { "paused" } } @else { (bucket.rate) } }
                                td.number { (bucket.available(now)) }
                                td { (bucket.declared) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// How full batches were, so far.
fn batch_table(formed: &BTreeMap<String, FormedBatches>) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Batches" {
            table {
                thead { tr { th scope="col" { "Need" } th.number scope="col" { "Batches" } th.number scope="col" { "Messages" } th.number scope="col" { "A batch has" } } }
                tbody {
                    @for (need, formed) in formed {
                        tr {
                            th scope="row" { (need) }
                            td.number { (formed.batches) }
                            td.number { (formed.messages) }
                            td.number { @if let Some(fill) = formed.fill() { (format!("{fill:.1}")) } }
                        }
                    }
                }
            }
        }
    }
}

fn resource_table(resources: &BTreeMap<String, (Resource, u32)>) -> Markup {
    html! {
        @if resources.is_empty() { p.none { "There are none." } } @else {
            div.scroll tabindex="0" role="region" aria-label="Resources" {
                table {
                    thead { tr { th scope="col" { "Resource" } th.number scope="col" { "Held" } th.number scope="col" { "Capacity" } } }
                    tbody {
                        @for (name, (resource, held)) in resources {
                            tr { th scope="row" { (name) } td.number { (held) } td.number { (resource.capacity) } }
                        }
                    }
                }
            }
        }
    }
}
