//! Retrying and cancelling runs, by a form of ours and nothing else.

use axum::Router;
use axum::http::HeaderMap;
use axum::response::Redirect;
use axum::routing::post;
use maud::{Markup, html};
use pgflow_runtime::RunId;
use pgflow_runtime::backend::{Cancelled, Retried};
use serde::Deserialize;

use crate::app::App;
use crate::error::PageError;
use crate::guard::{Token, check};
use crate::pages::run_id;
use crate::request::{Asked, Form, Path};
use crate::said::said;

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/runs/{id}/retry", post(retry)).route("/runs/{id}/cancel", post(cancel))
}

/// A form that was sent.
#[derive(Debug, Deserialize)]
struct Sent {
    token: Option<String>,
    #[serde(default)]
    reason: String,
}

said! {
    /// What became of an action, for the page after it.
    Said {
        Retried = "retried": "The run goes on from what failed.",
        NotFailed = "not-failed": "The run has not failed, and was left as it is.",
        Cancelled = "cancelled": "The run was cancelled.",
        Ended = "ended": "The run had ended before, and was left as it is.",
        Signalled = "signalled": "The step goes on with what it was told.",
        Buffered = "buffered": "The signal is kept until the step waits for it.",
        NotWaiting = "not-waiting": "The step does not wait for a signal, and was left as it is.",
    }
}

/// The forms of a run, for those who may use them. Which of them makes sense changes while people look at it, and is up
/// to the style sheet.
pub(crate) fn forms(asked: &Asked, id: RunId) -> Markup {
    let Some(token) = &asked.form else { return html! {} };
    let action = |what: &str| format!("{}/runs/{id}/{what}", asked.base);
    html! {
        div.actions {
            form.when-failed method="post" action=(action("retry")) {
                (field(token))
                button { "Retry" }
            }
            details.when-started {
                summary { "Cancel…" }
                form method="post" action=(action("cancel")) {
                    (field(token))
                    label { "Reason " input name="reason" maxlength="500" autocomplete="off"; }
                    button.danger { "Cancel the run" }
                }
            }
        }
    }
}

pub(crate) fn field(token: &Token) -> Markup {
    html! { input type="hidden" name="token" value=(token.text()); }
}

async fn retry(
    asked: Asked,
    Path(id): Path<String>,
    headers: HeaderMap,
    Form(sent): Form<Sent>,
) -> Result<Redirect, PageError> {
    allow(&asked, &headers, sent.token.as_deref())?;
    let id = run_id(&id)?;
    let said = match asked.app.db.retry(id).await? {
        Retried::Retried => Said::Retried,
        Retried::NotFailed(_) => Said::NotFailed,
        Retried::Unknown => return Err(unknown(id)),
    };
    Ok(back(&asked, id, said))
}

async fn cancel(
    asked: Asked,
    Path(id): Path<String>,
    headers: HeaderMap,
    Form(sent): Form<Sent>,
) -> Result<Redirect, PageError> {
    allow(&asked, &headers, sent.token.as_deref())?;
    let id = run_id(&id)?;
    let reason = Some(sent.reason.trim()).filter(|reason| !reason.is_empty());
    let said = match asked.app.db.cancel(id, reason).await? {
        Cancelled::Cancelled => Said::Cancelled,
        Cancelled::Ended(_) => Said::Ended,
        Cancelled::Unknown => return Err(unknown(id)),
    };
    Ok(back(&asked, id, said))
}

/// Whether whoever sent the form may, and meant to.
pub(crate) fn allow(
    asked: &Asked,
    headers: &HeaderMap,
    token: Option<&str>,
) -> Result<(), PageError> {
    if asked.form.is_none() {
        return Err(PageError::Forbidden("the dashboard is read-only".into()));
    }
    check(headers, token)
}

fn unknown(id: RunId) -> PageError {
    PageError::NotFound(format!("there is no run {id}"))
}

/// To the run, which says what became of it.
pub(crate) fn back(asked: &Asked, id: RunId, said: Said) -> Redirect {
    tracing::info!(run.id = %id, said = said.word(), "an action of the dashboard");
    Redirect::to(&format!("{}/runs/{id}?said={}", asked.base, said.word()))
}
