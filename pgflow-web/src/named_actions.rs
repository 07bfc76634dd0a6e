//! Pausing queues and schedules, and redriving dead letters, by a form of ours and nothing else. What they are about has a name.

use std::slice;
use std::time::Duration;

use axum::Router;
use axum::http::HeaderMap;
use axum::response::Redirect;
use axum::routing::post;
use maud::{Markup, html};
use pgflow_machine::job::check_name;
use pgflow_runtime::db::Db;
use pgflow_runtime::job::Redriven;
use serde::Deserialize;

use crate::actions::{allow, field};
use crate::app::App;
use crate::error::PageError;
use crate::html::field::hidden;
use crate::pages::job_id;
use crate::query::Exact;
use crate::request::{Asked, Form, Path};
use crate::said::said;

/// The pages that the forms are on.
pub(crate) const QUEUES: &str = "/queues";
pub(crate) const DEAD: &str = "/dead";
pub(crate) const SCHEDULES: &str = "/schedules";

pub(crate) fn routes() -> Router<App> {
    [QUEUES, DEAD, SCHEDULES].into_iter().fold(Router::new(), |router, page| {
        let act = move |asked: Asked, Path(verb), headers: HeaderMap, Form(sent)| {
            act(page, asked, verb, headers, sent)
        };
        router.route(&format!("{page}/{{verb}}"), post(act))
    })
}

/// A form that was sent.
#[derive(Debug, Deserialize)]
struct Sent {
    token: Option<String>,
    #[serde(default)]
    name: Exact,
}

said! {
    /// What became of an action, for the page after it.
    Said {
        Paused = "paused": "It is paused until somebody resumes it.",
        PausedBefore = "paused-before": "It had been paused before, and was left as it is.",
        Resumed = "resumed": "It goes on.",
        NotPaused = "not-paused": "It was not paused, and was left as it is.",
        Redriven = "redriven": "The job is in line again.",
        Dropped = "dropped": "The job is gone, with its history.",
        NotDead = "not-dead": "The job is not dead, and was left as it is.",
        Fired = "fired": "A run was started.",
    }
}

impl Said {
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
            (hidden("name", name))
            button aria-label={ (label) " " (name) } { (label) }
        }
    }
}

/// Does something to what has a name on a page, and goes back to the page.
async fn act(
    page: &'static str,
    asked: Asked,
    verb: String,
    headers: HeaderMap,
    sent: Sent,
) -> Result<Redirect, PageError> {
    allow(&asked, &headers, sent.token.as_deref())?;
    let (db, name) = (&asked.app.db, &*sent.name.0);
    let said = match page {
        QUEUES => queue(db, &verb, name).await,
        DEAD => dead(db, &verb, name).await,
        _ => schedule(db, &verb, name).await,
    }?;
    tracing::info!(name, page, said = said.word(), "an action of the dashboard");
    Ok(Redirect::to(&format!("{}{page}?said={}", asked.base, said.word())))
}

async fn queue(db: &Db, verb: &str, name: &str) -> Result<Said, PageError> {
    check_name(name).map_err(|why| PageError::Wrong(format!("the name of the queue {why}")))?;
    let queue = db.queue(name);
    Ok(match verb {
        "pause" => Said::pause(queue.pause().await?),
        "resume" => Said::resume(queue.resume().await?),
        _ => return Err(no_such(verb)),
    })
}

async fn dead(db: &Db, verb: &str, name: &str) -> Result<Said, PageError> {
    let id = job_id(name)?;
    let ids = slice::from_ref(&id);
    let (is_done, said) = match verb {
        "redrive" => {
            let answers = db.redrive(ids, Duration::ZERO).await?;
            (answers.first() == Some(&Redriven::Redriven), Said::Redriven)
        }
        "drop" => (db.drop_dead(ids).await? > 0, Said::Dropped),
        _ => return Err(no_such(verb)),
    };
    Ok(if is_done { said } else { Said::NotDead })
}

async fn schedule(db: &Db, verb: &str, name: &str) -> Result<Said, PageError> {
    let schedule = db.schedule(name);
    Ok(match verb {
        "pause" => Said::pause(schedule.pause().await?),
        "resume" => Said::resume(schedule.resume().await?),
        "fire" => {
            schedule.fire().await?;
            Said::Fired
        }
        _ => return Err(no_such(verb)),
    })
}

fn no_such(verb: &str) -> PageError {
    PageError::NotFound(format!("there is no action `{verb}`"))
}
