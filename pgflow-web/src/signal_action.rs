//! Signalling a task that waits, by a form of ours and nothing else.

use axum::Router;
use axum::http::HeaderMap;
use axum::response::Redirect;
use axum::routing::post;
use maud::{Markup, html};
use pgflow_machine::TaskKey;
use pgflow_machine::wait::{Signal, SignalTo, Signalled};
use pgflow_runtime::backend::WaitingFor;
use serde::Deserialize;
use serde_json::Value;

use crate::actions::{Said, allow, back, field};
use crate::app::App;
use crate::error::PageError;
use crate::html::field::hidden;
use crate::pages::run_id;
use crate::query::Exact;
use crate::request::{Asked, Form, Path};
use crate::run_view::RunView;

/// Forms on a page.
const FORMS: usize = 5;

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/runs/{id}/signal", post(signal))
}

/// A form that was sent.
#[derive(Debug, Deserialize)]
struct Sent {
    token: Option<String>,
    step: Exact,
    #[serde(default)]
    index: u32,
    #[serde(default)]
    payload: String,
}

/// A form for each task that waits for a signal, for those who may use them.
pub(crate) fn forms(asked: &Asked, view: &RunView) -> Markup {
    let Some(token) = &asked.form else { return html! {} };
    let hooks = view.waits.iter().filter(|wait| matches!(wait.on, WaitingFor::Hook { .. }));
    html! {
        div.actions {
            @for wait in hooks.take(FORMS) {
                details.when-started {
                    summary { "Signal " (wait.task.step) @if wait.task.index > 0 { " [" (wait.task.index) "]" } "…" }
                    form method="post" action={ (asked.base) "/runs/" (wait.task.run) "/signal" } {
                        (field(token))
                        (hidden("step", &wait.task.step))
                        input type="hidden" name="index" value=(wait.task.index);
                        label { "JSON " input name="payload" value="null" autocomplete="off" spellcheck="false"; }
                        button { "Signal" }
                    }
                }
            }
        }
    }
}

async fn signal(
    asked: Asked,
    Path(id): Path<String>,
    headers: HeaderMap,
    Form(sent): Form<Sent>,
) -> Result<Redirect, PageError> {
    allow(&asked, &headers, sent.token.as_deref())?;
    let run = run_id(&id)?;
    let wrong = |why: String| PageError::Wrong(why);
    let payload: Value = serde_json::from_str(&sent.payload)
        .map_err(|error| wrong(format!("a signal carries JSON: {error}")))?;
    let task = TaskKey { run, step: sent.step.0, index: sent.index };
    let signal = Signal::new(SignalTo::Task(task), payload);
    let limits = asked.app.db.limits().await?;
    signal.check(&limits).map_err(|problem| wrong(problem.to_string()))?;
    let said = match asked.app.db.backend().waits()?.signal(&signal).await? {
        Signalled::Delivered(_) | Signalled::Duplicate => Said::Signalled,
        Signalled::Buffered => Said::Buffered,
        Signalled::Gone | Signalled::Conflict => Said::NotWaiting,
        Signalled::Rejected { path, message } => {
            return Err(wrong(format!("this is not what is waited for: {message} (at `{path}`)")));
        }
    };
    Ok(back(&asked, run, said))
}
