//! What is waiting and who works, for Prometheus.
//!
//! Everything here is read from the database at each scrape, so that it is the same whichever process is asked; what a
//! worker counts while it works comes from [`Options::metrics`](crate::Options::metrics) of the worker's own process.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use metrics::{describe_gauge, gauge, with_local_recorder};
use metrics_exporter_prometheus::PrometheusBuilder;
use pgflow_runtime::Timestamp;
use pgflow_runtime::backend::{
    Activity, BackendError, JobDepths, NeedDepth, QueueDepth, WorkerRecord,
};
use pgflow_runtime::client::ClientError;
use pgflow_runtime::pipeline::{Bucket, Resource};
use pgflow_runtime::schedules::Schedule;

use crate::error::PageError;
use crate::number::precise;
use crate::request::Asked;

/// Runs that began longer ago are not looked at.
const WINDOW: Duration = Duration::from_mins(5);
/// Live jobs that are counted: a scrape takes no longer where there are millions.
const COUNTED: u64 = 100_000;

pub(crate) async fn metrics(asked: Asked) -> Result<impl IntoResponse, PageError> {
    let backend = asked.app.db.backend();
    let now = backend.now().await?;
    let queues = backend.queues().await?;
    let db = &asked.app.db;
    let workers = db.all_workers().await?;
    let activity = backend.activity(&[], WINDOW).await?;
    let jobs = if db.has_jobs() { db.job_depths_of(COUNTED).await? } else { JobDepths::default() };
    let schedules = kept(db.schedules().await)?;
    let paused = kept(db.paused_queues().await)?;
    let (rates, resources) = (kept(db.rates().await)?, kept(db.resources().await)?);
    let recorder = PrometheusBuilder::new().build_recorder();
    with_local_recorder(&recorder, || {
        describe();
        queues.iter().for_each(of_queue);
        jobs.needs.iter().for_each(of_need);
        gauge!("pgflow_jobs_partly_counted").set(u8::from(jobs.is_part));
        gauge!("pgflow_paused_queues").set(precise(paused.len() as u64));
        of_schedules(&schedules, now);
        of_permits(&rates, &resources, now);
        of_workers(&workers, now);
        of_runs(&activity);
    });
    let mut text = recorder.handle().render();
    if let Some(render) = &asked.app.options.metrics {
        text.push_str(&render());
    }
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text))
}

/// Nothing, if the database keeps none of it.
fn kept<T: Default>(answer: Result<T, ClientError>) -> Result<T, ClientError> {
    match answer {
        Err(ClientError::Backend(BackendError::Unsupported { .. })) => Ok(T::default()),
        answer => answer,
    }
}

fn describe() {
    describe_gauge!("pgflow_tasks_ready", "Tasks that a worker could take now");
    describe_gauge!("pgflow_tasks_delayed", "Tasks that wait for a delay or their next attempt");
    describe_gauge!("pgflow_tasks_running", "Tasks that a worker has");
    describe_gauge!(
        "pgflow_oldest_ready_seconds",
        "How long the oldest ready task could have been taken"
    );
    describe_gauge!("pgflow_jobs", "Live jobs, by what they need and where they stand");
    describe_gauge!(
        "pgflow_jobs_partly_counted",
        "1 if there are more live jobs than are counted at a scrape"
    );
    describe_gauge!(
        "pgflow_first_ready_job_seconds",
        "How long the first job in line could have been taken"
    );
    describe_gauge!("pgflow_paused_queues", "Queues and needs that somebody has paused");
    describe_gauge!("pgflow_schedules", "Schedules, by where they stand");
    describe_gauge!(
        "pgflow_late_schedule_seconds",
        "How long ago a schedule should have started a run, and has not; the longest"
    );
    describe_gauge!("pgflow_rate_left", "Attempts that may begin now, as far as a rate goes");
    describe_gauge!("pgflow_resource_held", "Units of a resource that attempts hold");
    describe_gauge!("pgflow_resource_capacity", "Units of a resource that there are");
    describe_gauge!(
        "pgflow_workers",
        "Workers that are alive, and those that stopped without a word"
    );
    describe_gauge!("pgflow_worker_slots", "Tasks that the workers that are alive can run at once");
    describe_gauge!(
        "pgflow_recent_runs",
        "Runs that began in the last five minutes, by what they are now"
    );
    describe_gauge!(
        "pgflow_recent_run_seconds",
        "How long the completed ones of the last five minutes took"
    );
}

fn of_queue(queue: &QueueDepth) {
    let flow = &queue.slug;
    gauge!("pgflow_tasks_ready", "flow" => flow.clone()).set(precise(queue.ready));
    gauge!("pgflow_tasks_delayed", "flow" => flow.clone()).set(precise(queue.delayed));
    gauge!("pgflow_tasks_running", "flow" => flow.clone()).set(precise(queue.running));
    let oldest = queue.oldest_ready.unwrap_or_default().as_secs_f64();
    gauge!("pgflow_oldest_ready_seconds", "flow" => flow.clone()).set(oldest);
}

fn of_need(depth: &NeedDepth) {
    let need = &depth.need;
    for (state, jobs) in [
        ("ready", depth.ready),
        ("sleeping", depth.sleeping),
        ("waiting", depth.waiting),
        ("parked", depth.parked),
        ("running", depth.running),
        ("concern", depth.concern),
    ] {
        gauge!("pgflow_jobs", "need" => need.clone(), "state" => state).set(precise(jobs));
    }
    let first = depth.first_ready.unwrap_or_default().as_secs_f64();
    gauge!("pgflow_first_ready_job_seconds", "need" => need.clone()).set(first);
}

fn of_schedules(schedules: &[Schedule], now: Timestamp) {
    for state in ["pending", "active", "over", "broken", "paused"] {
        let are = |schedule: &&Schedule| match schedule.paused_at {
            Some(_) => state == "paused",
            None => schedule.status.as_str() == state,
        };
        let many = schedules.iter().filter(are).count();
        gauge!("pgflow_schedules", "state" => state).set(precise(many as u64));
    }
    let late = schedules.iter().filter_map(|schedule| schedule.late_by(now)).max();
    gauge!("pgflow_late_schedule_seconds").set(late.unwrap_or_default().as_secs_f64());
}

fn of_permits(
    rates: &BTreeMap<String, Bucket>,
    resources: &BTreeMap<String, (Resource, u32)>,
    now: Timestamp,
) {
    for (rate, bucket) in rates {
        gauge!("pgflow_rate_left", "rate" => rate.clone()).set(bucket.available(now));
    }
    for (slug, (resource, held)) in resources {
        gauge!("pgflow_resource_held", "resource" => slug.clone()).set(*held);
        gauge!("pgflow_resource_capacity", "resource" => slug.clone()).set(resource.capacity);
    }
}

fn of_workers(workers: &[WorkerRecord], now: Timestamp) {
    let alive: Vec<_> = workers.iter().filter(|worker| worker.is_alive(now)).collect();
    let lost = workers.iter().filter(|worker| worker.is_lost(now)).count();
    gauge!("pgflow_workers", "state" => "alive").set(precise(alive.len() as u64));
    gauge!("pgflow_workers", "state" => "lost").set(precise(lost as u64));
    let slots: u64 = alive.iter().filter_map(|worker| worker.slots).map(u64::from).sum();
    gauge!("pgflow_worker_slots").set(precise(slots));
}

fn of_runs(activity: &Activity) {
    let minutes = &activity.minutes;
    let sum = |count: fn(&pgflow_runtime::backend::Minute) -> u64| {
        precise(minutes.iter().map(count).sum())
    };
    gauge!("pgflow_recent_runs", "status" => "started")
        .set(sum(|m| m.started - m.completed - m.failed - m.cancelled));
    gauge!("pgflow_recent_runs", "status" => "completed").set(sum(|m| m.completed));
    gauge!("pgflow_recent_runs", "status" => "failed").set(sum(|m| m.failed));
    gauge!("pgflow_recent_runs", "status" => "cancelled").set(sum(|m| m.cancelled));
    for (quantile, took) in [("0.5", activity.p50), ("0.95", activity.p95)] {
        if let Some(took) = took {
            gauge!("pgflow_recent_run_seconds", "quantile" => quantile).set(took.as_secs_f64());
        }
    }
}
