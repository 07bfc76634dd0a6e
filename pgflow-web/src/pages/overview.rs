//! How everything is doing.

use std::time::Duration;

use axum::Router;
use axum::response::Html;
use axum::routing::get;
use maud::{Markup, html};
use pgflow_runtime::backend::{
    Activity, JobDepths, Minute, QueueDepth, RunQuery, RunSummary, WorkerRecord,
};
use pgflow_runtime::{RunStatus, Timestamp};

use super::{Page, flows, jobs, runs, workers};
use crate::app::App;
use crate::error::PageError;
use crate::html::{shell, spark, time};
use crate::live::Frame;
use crate::number::precise;
use crate::request::Asked;

pub(super) const PAGE: Page = Page { path: "/", title: "Overview", routes };

const WINDOW: Duration = Duration::from_hours(1);
const MINUTES: usize = 60;
/// Completed runs that say how long runs take.
const LATENCIES: u32 = 200;
const FAILURES: u32 = 5;

fn routes() -> Router<App> {
    Router::new().route(PAGE.path, get(show))
}

async fn show(asked: Asked) -> Result<Html<String>, PageError> {
    let region = region(&asked.app, &asked.base).await?;
    let live = format!("{}/live/overview?seen={}", asked.base, Frame::id_of(&region));
    let body = html! {
        h1 { "Overview" }
        div data-live=(live) { (region) }
    };
    Ok(shell::page(&asked, "Overview", PAGE.path, &body))
}

/// Everything that is on it.
struct Overview {
    now: Timestamp,
    activity: Activity,
    latencies: Vec<f64>,
    failures: Vec<RunSummary>,
    queues: Vec<QueueDepth>,
    jobs: JobDepths,
    workers: Vec<WorkerRecord>,
}

impl Overview {
    async fn read(app: &App) -> Result<Self, PageError> {
        let backend = app.db.backend();
        let newest = |status, max| RunQuery { statuses: vec![status], max, ..RunQuery::default() };
        let completed = backend.list(&newest(RunStatus::Completed, LATENCIES)).await?;
        let took =
            |run: &RunSummary| Some(run.started_at.saturating_until(run.ended_at?).as_secs_f64());
        Ok(Self {
            now: backend.now().await?,
            activity: backend.activity(&[], WINDOW).await?,
            latencies: completed.iter().rev().filter_map(took).collect(),
            failures: backend.list(&newest(RunStatus::Failed, FAILURES)).await?,
            queues: backend.queues().await?,
            jobs: if app.db.has_jobs() {
                app.db.job_depths_of(jobs::COUNTED).await?
            } else {
                JobDepths::default()
            },
            workers: app.db.all_workers().await?,
        })
    }
}

/// What changes while people look at it; the same for all of them.
pub(crate) async fn region(app: &App, base: &str) -> Result<Markup, PageError> {
    let all = Overview::read(app).await?;
    Ok(html! {
        div {
            div.cards { (throughput(&all)) (failed(&all)) (latency(&all)) (waiting(&all)) (working(&all, base)) }
            div.columns {
                section { h2 { "Latest failures" } (runs::table(base, &all.failures)) }
                section { h2 { "Queues" } (flows::queue_table(base, &all.queues)) }
            }
            @if !all.jobs.needs.is_empty() { section { h2 { "Jobs" } (jobs::need_table(base, &all.jobs.needs, all.jobs.is_part, None)) } }
        }
    })
}

fn card(title: &str, figure: &Markup, more: &Markup) -> Markup {
    html! { section.card { h2 { (title) } p.figure { (figure) } (more) } }
}

fn throughput(all: &Overview) -> Markup {
    let started: u64 = all.activity.minutes.iter().map(|minute| minute.started).sum();
    let line = by_minute(all, |minute| minute.started);
    let label = "Runs started per minute, over the last hour";
    let more = html! {
        (spark::line(&line, "is-running", label))
        @if let Some(seen) = seen_only(&all.activity) { p { "the newest, of the last " (seen) } }
    };
    card("Started in the last hour", &html! { (started) }, &more)
}

/// The time that was looked at, if there were too many runs to look at all of the window.
fn seen_only(activity: &Activity) -> Option<String> {
    let seen = activity.since.saturating_until(activity.until);
    // The two moments were not read at once.
    (seen + Duration::from_secs(1) < WINDOW).then(|| time::duration(seen))
}

fn failed(all: &Overview) -> Markup {
    let failed: u64 = all.activity.minutes.iter().map(|minute| minute.failed).sum();
    let line = by_minute(all, |minute| minute.failed);
    let label = "Failed runs per minute of their start, over the last hour";
    card("Failed of these", &html! { (failed) }, &spark::line(&line, "is-failed", label))
}

fn latency(all: &Overview) -> Markup {
    let text = |took: Option<Duration>| took.map_or("–".to_owned(), time::duration);
    let figure =
        html! { (text(all.activity.p50)) small { " p50 · " (text(all.activity.p95)) " p95" } };
    let label = "How long the latest completed runs took";
    card("Duration of runs", &figure, &spark::line(&all.latencies, "is-completed", label))
}

fn waiting(all: &Overview) -> Markup {
    let ready: u64 = all.queues.iter().map(|queue| queue.ready).sum();
    let running: u64 = all.queues.iter().map(|queue| queue.running).sum();
    let oldest = all.queues.iter().filter_map(|queue| queue.oldest_ready).max();
    let figure = html! { (oldest.map_or("–".to_owned(), time::whole_seconds)) };
    card("Oldest waiting task", &figure, &html! { p { (ready) " ready, " (running) " running" } })
}

fn working(all: &Overview, base: &str) -> Markup {
    let alive: Vec<_> = all.workers.iter().filter(|worker| worker.is_alive(all.now)).collect();
    let lost = all.workers.iter().filter(|worker| worker.is_lost(all.now)).count();
    let slots: u64 = alive.iter().filter_map(|worker| worker.slots).map(u64::from).sum();
    let more = html! {
        p {
            a href={ (base) (workers::PAGE.path) } { (slots) " slots" }
            @if lost > 0 { ", " span.is-failed { (lost) " lost" } }
        }
    };
    card("Workers", &html! { (alive.len()) }, &more)
}

/// A count for each minute of the window, also for those in which nothing began.
fn by_minute(all: &Overview, count: fn(&Minute) -> u64) -> Vec<f64> {
    const MICROS: i64 = 60_000_000;
    let last = all.activity.until.micros().div_euclid(MICROS);
    let mut line = vec![0.0; MINUTES];
    for minute in &all.activity.minutes {
        let ago = usize::try_from(last - minute.at.micros().div_euclid(MICROS)).unwrap_or(MINUTES);
        if let Some(place) = MINUTES.checked_sub(ago + 1) {
            line[place] = precise(count(minute));
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_window_is_called_one() {
        let activity = |seconds: i64| Activity {
            since: Timestamp::from_micros(0),
            until: Timestamp::from_micros(seconds * 1_000_000),
            ..Activity::default()
        };
        assert_eq!(seen_only(&activity(3_600)), None);
        assert!(seen_only(&activity(90)).is_some());
    }
}
