//! Runs: filtered, found, page by page.

use axum::Router;
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use maud::{Markup, html};
use pgflow_runtime::backend::{RunQuery, RunSummary};
use pgflow_runtime::client::RunIdPrefix;
use pgflow_runtime::{RunId, RunStatus, Timestamp};
use serde::Deserialize;

use super::{Page, jobs, run};
use crate::app::App;
use crate::error::PageError;
use crate::html::status::badge;
use crate::html::{field, shell, time};
use crate::query::{Exact, encoded};
use crate::request::{Asked, Query};

pub(super) const PAGE: Page = Page { path: "/runs", title: "Runs", routes };

/// Runs on a page.
const MAX: u32 = 50;
/// Letters of an id that are looked for.
const SHORTEST: usize = 4;

fn routes() -> Router<App> {
    Router::new().route(PAGE.path, get(list)).merge(run::routes())
}

/// What somebody asked for; an empty field is one that was left out.
#[derive(Debug, Default, Deserialize)]
struct Filter {
    #[serde(default)]
    flow: String,
    #[serde(default)]
    status: String,
    /// An id or a key.
    #[serde(default)]
    q: String,
    #[serde(default)]
    q_is: Exact,
    /// The last run of the page before: its start in microseconds, and its id.
    #[serde(default)]
    after: String,
}

async fn list(asked: Asked, Query(mut filter): Query<Filter>) -> Result<Response, PageError> {
    field::meant(&mut filter.q, std::mem::take(&mut filter.q_is));
    if !filter.q.trim().is_empty() {
        return find(&asked, &filter).await;
    }
    Ok(show(&asked, &filter, None).await?.into_response())
}

async fn show(
    asked: &Asked,
    filter: &Filter,
    notice: Option<&str>,
) -> Result<Html<String>, PageError> {
    let backend = asked.app.db.backend();
    let query = filter.query()?;
    let runs = backend.list(&query).await?;
    let flows = names(asked).await?;
    let body = html! {
        h1 { "Runs" }
        (form(asked, filter, &flows))
        @if let Some(notice) = notice { p.notice role="status" { (notice) } }
        (table(&asked.base, &runs))
        (paging(asked, filter, &runs))
    };
    Ok(shell::page(asked, "Runs", PAGE.path, &body))
}

impl Filter {
    fn query(&self) -> Result<RunQuery, PageError> {
        let statuses = match self.status.as_str() {
            "" => Vec::new(),
            word => {
                let known = || PageError::Wrong(format!("there is no status `{word}`"));
                vec![RunStatus::from_word(word).ok_or_else(known)?]
            }
        };
        let after = match self.after.as_str() {
            "" => None,
            text => Some(position(text).ok_or_else(|| {
                PageError::Wrong(format!("`{text}` is not the end of a page of runs"))
            })?),
        };
        let flows = Some(self.flow.clone()).filter(|flow| !flow.is_empty()).into_iter().collect();
        Ok(RunQuery { flows, statuses, after, max: MAX, ..RunQuery::default() })
    }

    /// The same list from another place on.
    fn href(&self, base: &str, after: Option<&str>) -> String {
        let (flow, status) = (encoded(&self.flow), encoded(&self.status));
        let after = after.map(|after| format!("&after={}", encoded(after))).unwrap_or_default();
        format!("{base}{}?flow={flow}&status={status}{after}", PAGE.path)
    }
}

fn position(text: &str) -> Option<(Timestamp, RunId)> {
    let (micros, id) = text.split_once('_')?;
    Some((Timestamp::from_micros(micros.parse().ok()?), id.parse().ok()?))
}

/// Names of flows, each once.
async fn names(asked: &Asked) -> Result<Vec<String>, PageError> {
    let mut names: Vec<String> =
        asked.app.db.backend().flows().await?.into_iter().map(|record| record.flow).collect();
    names.dedup();
    Ok(names)
}

/// Goes to the run of an id or a key; says so if there is none.
async fn find(asked: &Asked, filter: &Filter) -> Result<Response, PageError> {
    let text = filter.q.trim();
    let ids = match text.parse::<RunId>() {
        Ok(id) => vec![id],
        Err(_) if !filter.flow.is_empty() => vec![RunId::from_key(&filter.flow, text)],
        Err(_) => names(asked).await?.iter().map(|flow| RunId::from_key(flow, text)).collect(),
    };
    let mut found = asked.app.db.backend().statuses(&ids).await?;
    if found.is_empty()
        && let Some(prefix) = beginning(text)
    {
        found = asked.app.db.find_runs(prefix, MAX).await?;
    }
    if let [run] = &found[..] {
        let to = format!("{}{}/{}", asked.base, PAGE.path, run.id);
        return Ok(Redirect::to(&to).into_response());
    }
    if found.is_empty()
        && let Some(to) = jobs::page_of(asked, text).await?
    {
        return Ok(Redirect::to(&to).into_response());
    }
    if found.is_empty() {
        let notice = "No run has this id or key, and no job this name.";
        return Ok(show(asked, filter, Some(notice)).await?.into_response());
    }
    let body = html! {
        h1 { "Runs" }
        p { (found.len()) " runs have this key, or an id that begins like this." }
        (table(&asked.base, &found))
    };
    Ok(shell::page(asked, "Runs", PAGE.path, &body).into_response())
}

/// A text that may be the beginning of an id, and is long enough for few of them.
fn beginning(text: &str) -> Option<RunIdPrefix> {
    text.parse().ok().filter(|_| text.len() >= SHORTEST)
}

fn form(asked: &Asked, filter: &Filter, flows: &[String]) -> Markup {
    html! {
        form.filter action={ (asked.base) (PAGE.path) } {
            label { "Flow "
                select name="flow" {
                    option value="" { "all" }
                    @for flow in flows { option value=(flow) selected[*flow == filter.flow] { (flow) } }
                }
            }
            label { "Status "
                select name="status" {
                    option value="" { "any" }
                    @for status in RunStatus::ALL {
                        option value=(status) selected[status.word() == filter.status] { (crate::html::status::Look::from(*status).word()) }
                    }
                }
            }
            label { "Id or key " (field::text("q", &filter.q, None)) }
            button { "Show" }
        }
    }
}

/// Runs in a table.
pub(super) fn table(base: &str, runs: &[RunSummary]) -> Markup {
    html! {
        @if runs.is_empty() { p.none { "There are none." } }
        @else {
            div.scroll tabindex="0" role="region" aria-label="Runs" {
                table {
                    thead { tr { th scope="col" { "Run" } th scope="col" { "Flow" } th scope="col" { "Status" } th scope="col" { "Started" } th scope="col" { "Took" } th.number scope="col" { "Steps left" } } }
                    tbody {
                        @for run in runs {
                            tr {
                                td { a.id href={ (base) (PAGE.path) "/" (run.id) } { (run.id) } }
                                td { (run.flow) }
                                td { (badge(run.status)) }
                                td { (time::moment(run.started_at)) }
                                td { @match run.ended_at {
                                    Some(ended) => (time::duration(run.started_at.saturating_until(ended))),
                                    None => (time::since(run.started_at)),
                                } }
                                td.number { @if run.remaining_steps > 0 { (run.remaining_steps) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn paging(asked: &Asked, filter: &Filter, runs: &[RunSummary]) -> Markup {
    let last = runs.last().filter(|_| runs.len() >= MAX as usize);
    let after = last.map(|run| format!("{}_{}", run.started_at.micros(), run.id));
    html! {
        nav.paging aria-label="Paging" {
            @if !filter.after.is_empty() { a href=(filter.href(&asked.base, None)) { "Newest" } }
            @if let Some(after) = after { a rel="next" href=(filter.href(&asked.base, Some(&after))) { "Older" } }
        }
    }
}
