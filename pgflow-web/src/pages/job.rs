//! A job: where it stands, why it does not move, and what happened to it.
//!
//! Its name may be anything, also `..`, so it is a parameter and no part of the path.

use axum::Router;
use axum::response::Html;
use axum::routing::get;
use maud::{Markup, html};
use pgflow_runtime::Timestamp;
use pgflow_runtime::backend::{JobEvent, JobRecord, JobStanding};
use pgflow_runtime::client::{JobReason, JobWhy};
use pgflow_runtime::job::{Dependency, JobId, JobOutcome, JobStatus};
use serde::Deserialize;

use super::jobs;
use crate::app::App;
use crate::error::PageError;
use crate::html::status::badge_of;
use crate::html::{payload, shell, time};
use crate::job_actions::{self, Said};
use crate::live::Frame;
use crate::query::encoded;
use crate::redact::PayloadKind;
use crate::request::{Asked, Query};

/// Lines of a trace that are shown: the last ones.
const LINES: u32 = 200;

pub(super) fn routes() -> Router<App> {
    Router::new().route("/job", get(show))
}

/// Where a job is.
pub(crate) fn href(base: &str, id: &JobId) -> String {
    format!("{base}/job?id={}", encoded(id.as_str()))
}

#[derive(Debug, Deserialize)]
struct Chosen {
    #[serde(default)]
    id: String,
    said: Option<Said>,
}

/// The name of a job in an address.
pub(crate) fn id_of(text: &str) -> Result<JobId, PageError> {
    let wrong = |error: pgflow_runtime::job::InvalidJobId| PageError::NotFound(error.to_string());
    text.parse().map_err(wrong)
}

async fn show(asked: Asked, Query(chosen): Query<Chosen>) -> Result<Html<String>, PageError> {
    let id = id_of(&chosen.id)?;
    let view = JobView::read(&asked.app, &id).await?;
    let region = region(&asked.app, &view);
    let (seen, name) = (Frame::id_of(&region), encoded(id.as_str()));
    let live = format!("{}/live/job?id={name}&seen={seen}", asked.base);
    let body = html! {
        h1 { "Job " span.id { (id) } }
        @if let Some(said) = chosen.said { p.notice role="status" { (said.sentence()) } }
        div.run {
            (job_actions::forms(&asked, &id))
            div.live data-live=(live) { (region) }
            aside #detail aria-live="polite" { (detail(&asked.app, &view)) }
        }
    };
    Ok(shell::page(&asked, &format!("Job {id}"), jobs::PAGE.path, &body))
}

/// A job as pages show it.
pub(crate) struct JobView {
    pub(crate) record: JobRecord,
    why: JobWhy,
    trace: Trace,
}

/// The end of what happened to a job.
#[derive(Default)]
struct Trace {
    /// Whether there are lines before these.
    has_earlier: bool,
    lines: Vec<JobEvent>,
}

impl JobView {
    pub(crate) async fn read(app: &App, id: &JobId) -> Result<Self, PageError> {
        let record = app.db.job(id).record().await?;
        Ok(Self { record, why: app.db.why_job(id).await?, trace: trace(app, id).await? })
    }

    /// Whether nothing happens to it any more: who failed may be redriven.
    pub(crate) fn is_over(&self) -> bool {
        match self.record.summary.standing {
            JobStanding::Live(_) => false,
            JobStanding::Ended(outcome) => {
                !matches!(outcome, JobOutcome::Failed | JobOutcome::Crashed)
            }
        }
    }

    /// What can be done to it, for the style sheet.
    fn status(&self) -> &'static str {
        match self.record.summary.standing {
            JobStanding::Live(JobStatus::CrashConcern) => "concern",
            JobStanding::Live(_) => "started",
            JobStanding::Ended(JobOutcome::Failed | JobOutcome::Crashed) => "failed",
            JobStanding::Ended(_) => "ended",
        }
    }
}

/// What happened to a job lately: one line more is read than is shown, to know whether there are others.
async fn trace(app: &App, id: &JobId) -> Result<Trace, PageError> {
    let mut lines = app.db.backend().jobs()?.job_trace_end(id, LINES + 1).await?;
    let has_earlier = lines.len() > LINES as usize;
    lines.drain(..usize::from(has_earlier));
    Ok(Trace { has_earlier, lines })
}

/// What changes while people look at it. It is the same for all of them: links lead from the page they are on.
pub(crate) fn region(app: &App, view: &JobView) -> Markup {
    html! {
        div data-status=(view.status()) {
            (summary(view))
            @if !view.why.reasons.is_empty() {
                h2 { "Why it is where it is" }
                ul.reasons { @for reason in &view.why.reasons { li { (reason_text(app, view, reason)) } } }
            }
            @if !view.record.waits_for.is_empty() { h2 { "Waits for" } (waits(view)) }
            h2 { "What happened" }
            (trace_table(app, view))
        }
    }
}

/// A reason may tell what an attempt failed with, and what somebody has cancelled it for.
fn reason_text(app: &App, view: &JobView, reason: &JobReason) -> String {
    let mut reason = reason.clone();
    if let JobReason::Ended { why: Some(text), .. }
    | JobReason::Cancelled { reason: Some(text), .. }
    | JobReason::Backoff { error: text, .. } = &mut reason
    {
        *text = app.options.redacted_job_error(&view.record.summary.row.need, text);
    }
    reason.sentence(view.why.now)
}

fn summary(view: &JobView) -> Markup {
    let (job, row) = (&view.record.summary, &view.record.summary.row);
    let moment = |title: &str, at: Option<Timestamp>| {
        html! { @if let Some(at) = at { div { dt { (title) } dd { (time::moment(at)) } } } }
    };
    html! {
        dl.facts {
            div { dt { "Status" } dd { (badge_of(job.standing)) } }
            div { dt { "Needs" } dd { (row.need) } }
            div { dt { "Submitted" } dd { (time::moment(row.created_at)) } }
            (moment("Ended", job.ended_at))
            (moment("Sleeps until", row.wake_at.filter(|_| job.ended_at.is_none())))
            (moment("Expires", row.expires_at.filter(|_| job.ended_at.is_none())))
            @if let Some(key) = &row.key { div { dt { "Key" } dd { a href={ "jobs?key=" (encoded(key)) } { (key) } } } }
            div { dt { "Attempts" } dd { (row.attempts) @if let Some(max) = row.max_attempts { " of " (max) } } }
            div { dt { "Failed" } dd { (row.failures) } }
            div { dt { "Lost workers" } dd { (row.lapses) } }
            @if row.priority != 0 { div { dt { "Priority" } dd { (row.priority) } } }
            @if let Some(lease) = &row.lease { div { dt { "Worker" } dd.id { (lease.worker) } } }
        }
    }
}

fn waits(view: &JobView) -> Markup {
    let href = |on: &Dependency| match on {
        Dependency::Job(id) => format!("?id={}", encoded(id.as_str())),
        Dependency::Run(run) => format!("runs/{run}"),
    };
    html! {
        ul { @for wait in view.record.waits_for.iter().take(LINES as usize) {
            li { (wait.on.kind()) " " a.id href=(href(&wait.on)) { (wait.on.name()) } " (" (wait.policy) ")" }
        } }
    }
}

fn trace_table(app: &App, view: &JobView) -> Markup {
    let Trace { has_earlier, lines } = &view.trace;
    let need = &view.record.summary.row.need;
    let shown = |event: &JobEvent| {
        let detail = event.detail.clone()?;
        Some(app.options.redacted_job(need, PayloadKind::Error, detail).to_string())
    };
    html! {
        @if lines.is_empty() { p.none { "There is no trace." } } @else {
            @if *has_earlier { p.none { "The last " (LINES) " lines; `pgflow job show --events` prints all of them" } }
            div.scroll tabindex="0" role="region" aria-label="Trace" {
                table {
                    thead { tr { th scope="col" { "When" } th scope="col" { "What" } th scope="col" { "By" } th scope="col" { "Detail" } } }
                    tbody { @for event in lines {
                        tr {
                            td { (time::moment(event.at)) }
                            td { (event.kind) }
                            td { (event.by.as_deref().unwrap_or("")) }
                            td { @if let Some(detail) = shown(event) { code { (detail) } } }
                        }
                    } }
                }
            }
        }
    }
}

/// What it is about and what came of it.
fn detail(app: &App, view: &JobView) -> Markup {
    let (record, need) = (&view.record, &view.record.summary.row.need);
    let input = app.options.redacted_job(need, PayloadKind::Input, record.payload.clone());
    let output = record.output.clone();
    let output = output.map(|it| app.options.redacted_job(need, PayloadKind::Output, it));
    html! {
        @if let Some(error) = &record.summary.error {
            section.payload { h3 { "Error" } (payload::error(&app.options.redacted_job_error(need, error))) }
        }
        (payload::payload("Payload", Some(&input)))
        (payload::payload("Output", output.as_ref()))
    }
}
