//! Cancelling, redriving and clearing jobs, by a form of ours and nothing else.

use std::time::Duration;

use axum::Router;
use axum::http::HeaderMap;
use axum::response::Redirect;
use axum::routing::post;
use maud::{Markup, html};
use pgflow_runtime::job::{ConcernCleared, JobCancelled, JobId, Redriven};
use serde::Deserialize;

use crate::actions::{allow, field};
use crate::app::App;
use crate::error::PageError;
use crate::html::field::hidden as hidden_field;
use crate::pages::{job_href, job_id};
use crate::query::Exact;
use crate::request::{Asked, Form};
use crate::said::said;

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/job/cancel", post(cancel))
        .route("/job/redrive", post(redrive))
        .route("/job/clear", post(clear))
}

/// A form that was sent.
#[derive(Debug, Deserialize)]
struct Sent {
    token: Option<String>,
    #[serde(default)]
    id: Exact,
    #[serde(default)]
    reason: String,
}

said! {
    /// What became of an action, for the page after it.
    Said {
        Cancelled = "cancelled": "The job was cancelled.",
        Asked = "asked": "The job ends with its lease, unless it is done before.",
        Ended = "ended": "The job had ended before, and was left as it is.",
        Redriven = "redriven": "The job is in line again.",
        NotFailed = "not-failed": "The job has not failed, and was left as it is.",
        Cleared = "cleared": "The job may be leased again.",
        NoConcern = "no-concern": "Nothing was wrong with the job, and it was left as it is.",
    }
}

/// The forms of a job, for those who may use them. Which of them makes sense changes while people look at it, and is up
/// to the style sheet.
pub(crate) fn forms(asked: &Asked, id: &JobId) -> Markup {
    let Some(token) = &asked.form else { return html! {} };
    let action = |what: &str| format!("{}/job/{what}", asked.base);
    let hidden = html! { (field(token)) (hidden_field("id", id.as_str())) };
    html! {
        div.actions {
            form.when-failed method="post" action=(action("redrive")) { (hidden) button { "Redrive" } }
            form.when-concern method="post" action=(action("clear")) { (hidden) button { "Clear" } }
            details.when-started {
                summary { "Cancel…" }
                form method="post" action=(action("cancel")) {
                    (hidden)
                    label { "Reason " input name="reason" maxlength="500" autocomplete="off"; }
                    button.danger { "Cancel the job" }
                }
            }
        }
    }
}

async fn cancel(
    asked: Asked,
    headers: HeaderMap,
    Form(sent): Form<Sent>,
) -> Result<Redirect, PageError> {
    let id = allowed(&asked, &headers, &sent)?;
    let reason = Some(sent.reason.trim()).filter(|reason| !reason.is_empty());
    let said = match asked.app.db.job(&id).cancel(reason.unwrap_or("from the dashboard")).await? {
        JobCancelled::Cancelled => Said::Cancelled,
        JobCancelled::Asked => Said::Asked,
        JobCancelled::Ended(_) => Said::Ended,
        JobCancelled::Unknown => return Err(unknown(&id)),
    };
    Ok(back(&asked, &id, said))
}

async fn redrive(
    asked: Asked,
    headers: HeaderMap,
    Form(sent): Form<Sent>,
) -> Result<Redirect, PageError> {
    let id = allowed(&asked, &headers, &sent)?;
    let redriven = asked.app.db.redrive(std::slice::from_ref(&id), Duration::ZERO).await?;
    let said = match redriven.first() {
        Some(Redriven::Redriven) => Said::Redriven,
        Some(Redriven::Ended(_) | Redriven::Live) => Said::NotFailed,
        Some(Redriven::Unknown) | None => return Err(unknown(&id)),
    };
    Ok(back(&asked, &id, said))
}

async fn clear(
    asked: Asked,
    headers: HeaderMap,
    Form(sent): Form<Sent>,
) -> Result<Redirect, PageError> {
    let id = allowed(&asked, &headers, &sent)?;
    let cleared = asked.app.db.clear_concern(std::slice::from_ref(&id)).await?;
    let said = match cleared.first() {
        Some(ConcernCleared::Cleared) => Said::Cleared,
        Some(ConcernCleared::NoConcern) => Said::NoConcern,
        Some(ConcernCleared::Unknown) | None => return Err(unknown(&id)),
    };
    Ok(back(&asked, &id, said))
}

/// The job, if whoever sent the form may, and meant to.
fn allowed(asked: &Asked, headers: &HeaderMap, sent: &Sent) -> Result<JobId, PageError> {
    allow(asked, headers, sent.token.as_deref())?;
    job_id(&sent.id.0)
}

fn unknown(id: &JobId) -> PageError {
    PageError::NotFound(format!("there is no job `{id}`"))
}

fn back(asked: &Asked, id: &JobId, said: Said) -> Redirect {
    tracing::info!(job.id = %id, said = said.word(), "an action of the dashboard");
    Redirect::to(&format!("{}&said={}", job_href(&asked.base, id), said.word()))
}
