//! Dead letters: jobs and messages that failed for good, or ended their workers.

use axum::Router;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use maud::{Markup, html};
use pgflow_runtime::backend::{JobSearch, JobSummary};
use serde::Deserialize;

use super::{Page, job, jobs, run};
use crate::app::App;
use crate::error::PageError;
use crate::html::status::badge_of;
use crate::html::{field, shell, time};
use crate::named_actions::{DEAD, Done, Said, button};
use crate::query::{Exact, encoded};
use crate::request::{Asked, Query};

pub(super) const PAGE: Page = Page { path: "/dead", title: "Dead letters", routes };

/// Those on a page.
const MAX: u32 = 50;

fn routes() -> Router<App> {
    Router::new().route(PAGE.path, get(list))
}

/// What somebody asked for; an empty field is one that was left out.
#[derive(Debug, Default, Deserialize)]
struct Filter {
    #[serde(default)]
    need: String,
    #[serde(default)]
    need_is: Exact,
    #[serde(default)]
    after: String,
    said: Option<Said>,
}

async fn list(asked: Asked, Query(mut filter): Query<Filter>) -> Result<Response, PageError> {
    field::meant(&mut filter.need, std::mem::take(&mut filter.need_is));
    if !asked.app.db.has_jobs() {
        let body = html! { h1 { (PAGE.title) } p.none { "This database keeps no jobs yet." } };
        return Ok(shell::page(&asked, PAGE.title, PAGE.path, &body).into_response());
    }
    Ok(show(&asked, &filter).await?.into_response())
}

async fn show(asked: &Asked, filter: &Filter) -> Result<Html<String>, PageError> {
    let after = match filter.after.as_str() {
        "" => None,
        text => Some(jobs::place(text)?),
    };
    let need = Some(filter.need.clone()).filter(|need| !need.is_empty());
    let search = JobSearch { need, after, max: MAX, ..JobSearch::default() };
    let page = asked.app.db.dead_jobs(&search).await?;
    let next = page.next.and_then(|next| next.after).map(jobs::position);
    let href = |after: Option<&str>| {
        let after = after.map(|after| format!("&after={}", encoded(after))).unwrap_or_default();
        format!("{}{}?need={}{after}", asked.base, PAGE.path, encoded(&filter.need))
    };
    let body = html! {
        h1 { (PAGE.title) }
        (Done { said: filter.said }.notice())
        p { "Jobs and messages that are out of attempts, failed for good, or ended too many of their workers; the last first." }
        form.filter action={ (asked.base) (PAGE.path) } {
            label { "Need " (field::text("need", &filter.need, None)) }
            button { "Show" }
        }
        (table(asked, &page.jobs))
        nav.paging aria-label="Paging" {
            @if !filter.after.is_empty() { a href=(href(None)) { "Newest" } }
            @if let Some(next) = next { a rel="next" href=(href(Some(&next))) { "Older" } }
        }
    };
    Ok(shell::page(asked, PAGE.title, PAGE.path, &body))
}

fn table(asked: &Asked, dead: &[JobSummary]) -> Markup {
    let error = |job: &JobSummary| {
        let error = job.error.as_deref().unwrap_or_default();
        asked.app.options.redacted_job_error(&job.row.need, error)
    };
    html! {
        @if dead.is_empty() { p.none { "There are none." } } @else {
            div.scroll tabindex="0" role="region" aria-label=(PAGE.title) {
                table {
                    thead { tr { @for head in ["Job", "Need", "Status", "Attempts", "Ended", "Error", ""] { th scope="col" { (head) } } } }
                    tbody {
                        @for job in dead {
                            tr {
                                td { a.id href=(job::href(&asked.base, &job.id)) { (job.id) } }
                                td { (job.row.need) }
                                td { (badge_of(job.standing)) }
                                td { (job.row.attempts) }
                                td { @if let Some(at) = job.ended_at { (time::moment(at)) } }
                                td { (run::first_line(&error(job))) }
                                td { (forms(asked, job)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What can be done about one, for those who may.
fn forms(asked: &Asked, job: &JobSummary) -> Markup {
    let can_drop = asked.app.db.backend().pipelines().is_ok();
    html! {
        div.actions {
            (button(asked, DEAD, "redrive", job.id.as_str(), "Redrive"))
            @if can_drop { (button(asked, DEAD, "drop", job.id.as_str(), "Drop")) }
        }
    }
}
