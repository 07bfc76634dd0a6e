//! Tasks that wait for something from outside: signals, moments, children.

use axum::Router;
use axum::response::Html;
use axum::routing::get;
use maud::{Markup, html};
use pgflow_machine::TaskKey;
use pgflow_runtime::Timestamp;
use pgflow_runtime::backend::{WaitQuery, WaitRecord, WaitingFor};
use serde::Deserialize;

use super::{Page, job, runs};
use crate::app::App;
use crate::error::PageError;
use crate::html::{shell, time};
use crate::query::encoded;
use crate::request::{Asked, Query};

pub(super) const PAGE: Page = Page { path: "/waits", title: "Waits", routes };

/// Waits on a page.
const MAX: u32 = 50;
/// Children of a wait that are shown.
const CHILDREN: usize = 5;

fn routes() -> Router<App> {
    Router::new().route(PAGE.path, get(show))
}

#[derive(Debug, Default, Deserialize)]
struct Filter {
    /// The last wait of the page before.
    #[serde(default)]
    after: String,
}

async fn show(asked: Asked, Query(filter): Query<Filter>) -> Result<Html<String>, PageError> {
    let Ok(waits) = asked.app.db.backend().waits() else {
        let body = html! { h1 { "Waits" } p.none { "This database keeps no waits yet." } };
        return Ok(shell::page(&asked, "Waits", PAGE.path, &body));
    };
    let wrong =
        || PageError::Wrong(format!("`{}` is not the end of a page of waits", filter.after));
    let after = match filter.after.as_str() {
        "" => None,
        text => Some(place(text).ok_or_else(wrong)?),
    };
    let found = waits.list_waits(&WaitQuery { after, max: MAX, ..WaitQuery::default() }).await?;
    let next = found.last().filter(|_| found.len() >= MAX as usize).map(position);
    let href = |after: &str| format!("{}{}?after={}", asked.base, PAGE.path, encoded(after));
    let body = html! {
        h1 { "Waits" }
        p { "Tasks that wait for something from outside, the oldest first." }
        (table(&asked.base, &found))
        nav.paging aria-label="Paging" {
            @if !filter.after.is_empty() { a href={ (asked.base) (PAGE.path) } { "Oldest" } }
            @if let Some(next) = next { a rel="next" href=(href(&next)) { "Newer" } }
        }
    };
    Ok(shell::page(&asked, "Waits", PAGE.path, &body))
}

fn position(wait: &WaitRecord) -> String {
    let TaskKey { run, step, index } = &wait.task;
    format!("{}_{run}_{index}_{step}", wait.since.micros())
}

fn place(text: &str) -> Option<(Timestamp, TaskKey)> {
    let mut parts = text.splitn(4, '_');
    let since = Timestamp::from_micros(parts.next()?.parse().ok()?);
    let (run, index) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some((since, TaskKey { run, step: parts.next()?.to_owned(), index }))
}

/// Waits in a table. Tokens that nobody can guess are secrets and not in it.
pub(super) fn table(base: &str, waits: &[WaitRecord]) -> Markup {
    html! {
        @if waits.is_empty() { p.none { "There are none." } } @else {
            div.scroll tabindex="0" role="region" aria-label="Waits" {
                table {
                    thead { tr { th scope="col" { "Step" } th scope="col" { "Waits for" } th scope="col" { "Since" } th scope="col" { "Until" } th scope="col" { "Run" } } }
                    tbody {
                        @for wait in waits {
                            tr {
                                td { (wait.task.step) @if wait.task.index > 0 { " [" (wait.task.index) "]" } }
                                td { (what(base, &wait.on)) }
                                td { (time::moment(wait.since)) }
                                td { @match wait.until { Some(at) => (time::moment(at)), None => "–" } }
                                td { a.id href={ (base) (runs::PAGE.path) "/" (wait.task.run) "?step=" (encoded(&wait.task.step)) } { (wait.task.run) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What a task waits for, with links to it.
pub(super) fn what(base: &str, on: &WaitingFor) -> Markup {
    html! {
        @match on {
            WaitingFor::Hook { token: Some(token) } if !token.is_announced() => { "the signal " code { (token.as_str()) } },
            WaitingFor::Hook { .. } => "a signal",
            WaitingFor::Sleep => "a moment",
            WaitingFor::Runs(children) => {
                (children.len()) " runs: "
                @for run in children.iter().take(CHILDREN) { a.id href={ (base) (runs::PAGE.path) "/" (run) } { (run) } " " }
            }
            WaitingFor::Jobs(children) => {
                (children.len()) " jobs: "
                @for id in children.iter().take(CHILDREN) { a.id href=(job::href(base, id)) { (id) } " " }
            }
        }
    }
}
