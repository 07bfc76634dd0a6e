//! Pausing queues and schedules, and redriving dead letters, by a form of ours and nothing else. What they are about has a name.

use std::slice;
use std::time::Duration;

use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Redirect;
use axum::routing::post;
use axum::{Form, Router};
use maud::{Markup, html};
use pgflow_machine::job::check_name;
use pgflow_runtime::job::Redriven;
use serde::Deserialize;

use crate::actions::{allow, field};
use crate::app::App;
use crate::error::PageError;
use crate::pages::job_id;
use crate::request::Asked;

/// The pages that the forms are on.
pub(crate) const QUEUES: &str = "/queues";
pub(crate) const DEAD: &str = "/dead";
pub(crate) const SCHEDULES: &str = "/schedules";

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/queues/{verb}", post(queue))
        .route("/dead/{verb}", post(dead))
        .route("/schedules/{verb}", post(schedule))
}

/// A form that was sent.
#[derive(Debug, Deserialize)]
struct Sent {
    token: Option<String>,
    #[serde(default)]
    name: String,
}

/// What became of an action, for the page after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Said {
    Paused,
    PausedBefore,
    Resumed,
    NotPaused,
    Redriven,
    Dropped,
    NotDead,
    Fired,
}

impl Said {
    const fn word(self) -> &'static str {
        match self {
            Self::Paused => "paused",
            Self::PausedBefore => "paused-before",
            Self::Resumed => "resumed",
            Self::NotPaused => "not-paused",
            Self::Redriven => "redriven",
            Self::Dropped => "dropped",
            Self::NotDead => "not-dead",
            Self::Fired => "fired",
        }
    }

    const fn sentence(self) -> &'static str {
        match self {
            Self::Paused => "It is paused until somebody resumes it.",
            Self::PausedBefore => "It had been paused before, and was left as it is.",
            Self::Resumed => "It goes on.",
            Self::NotPaused => "It was not paused, and was left as it is.",
            Self::Redriven => "The job is in line again.",
            Self::Dropped => "The job is gone, with its history.",
            Self::NotDead => "The job is not dead, and was left as it is.",
            Self::Fired => "A run was started.",
        }
    }

    const fn pause(is_new: bool) -> Self {
        if is_new { Self::Paused } else { Self::PausedBefore }
    }

    const fn resume(was_paused: bool) -> Self {
        if was_paused { Self::Resumed } else { Self::NotPaused }
    }
}

/// What a page is asked for after an action.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct Done {
    pub(crate) said: Option<Said>,
}

impl Done {
    /// What became of it.
    pub(crate) fn notice(self) -> Markup {
        html! { @if let Some(said) = self.said { p.notice role="status" { (said.sentence()) } } }
    }
}

/// A button that does something to what has this name, for those who may.
pub(crate) fn button(asked: &Asked, page: &str, verb: &str, name: &str, label: &str) -> Markup {
    let Some(token) = &asked.form else { return html! {} };
    html! {
        form method="post" action={ (asked.base) (page) "/" (verb) } {
            (field(token))
            input type="hidden" name="name" value=(name);
            button aria-label={ (label) " " (name) } { (label) }
        }
    }
}

async fn queue(
    asked: Asked,
    Path(verb): Path<String>,
    headers: HeaderMap,
    Form(sent): Form<Sent>,
) -> Result<Redirect, PageError> {
    allow(&asked, &headers, sent.token.as_deref())?;
    check_name(&sent.name)
        .map_err(|why| PageError::Wrong(format!("the name of the queue {why}")))?;
    let queue = asked.app.db.queue(&sent.name);
    let said = match verb.as_str() {
        "pause" => Said::pause(queue.pause().await?),
        "resume" => Said::resume(queue.resume().await?),
        _ => return Err(no_such(&verb)),
    };
    Ok(back(&asked, QUEUES, &sent.name, said))
}

async fn dead(
    asked: Asked,
    Path(verb): Path<String>,
    headers: HeaderMap,
    Form(sent): Form<Sent>,
) -> Result<Redirect, PageError> {
    allow(&asked, &headers, sent.token.as_deref())?;
    let id = job_id(&sent.name)?;
    let ids = slice::from_ref(&id);
    let is_done = match verb.as_str() {
        "redrive" => {
            let answers = asked.app.db.redrive(ids, Duration::ZERO).await?;
            answers.first() == Some(&Redriven::Redriven)
        }
        "drop" => asked.app.db.drop_dead(ids).await? > 0,
        _ => return Err(no_such(&verb)),
    };
    let said = match (is_done, verb.as_str()) {
        (false, _) => Said::NotDead,
        (true, "drop") => Said::Dropped,
        (true, _) => Said::Redriven,
    };
    Ok(back(&asked, DEAD, &sent.name, said))
}

async fn schedule(
    asked: Asked,
    Path(verb): Path<String>,
    headers: HeaderMap,
    Form(sent): Form<Sent>,
) -> Result<Redirect, PageError> {
    allow(&asked, &headers, sent.token.as_deref())?;
    let schedule = asked.app.db.schedule(&sent.name);
    let said = match verb.as_str() {
        "pause" => Said::pause(schedule.pause().await?),
        "resume" => Said::resume(schedule.resume().await?),
        "fire" => {
            schedule.fire().await?;
            Said::Fired
        }
        _ => return Err(no_such(&verb)),
    };
    Ok(back(&asked, SCHEDULES, &sent.name, said))
}

fn no_such(verb: &str) -> PageError {
    PageError::NotFound(format!("there is no action `{verb}`"))
}

/// To the page, which says what became of it.
fn back(asked: &Asked, page: &str, name: &str, said: Said) -> Redirect {
    tracing::info!(name, page, said = said.word(), "an action of the dashboard");
    Redirect::to(&format!("{}{page}?said={}", asked.base, said.word()))
}
