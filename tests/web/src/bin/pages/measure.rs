//! From the request to the last byte of the answer, without a network between.

use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use pgflow::Db;
use pgflow_web::Options;
use pgflow_web_tests::{Outcome, listen};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::sights::Sights;

/// What a page took, in milliseconds.
pub(crate) struct Figure {
    pub(crate) database: &'static str,
    pub(crate) page: &'static str,
    pub(crate) p50: f64,
    pub(crate) p95: f64,
    pub(crate) bytes: usize,
}

impl Figure {
    pub(crate) fn json(&self) -> Value {
        let Self { database, page, p50, p95, bytes } = self;
        json!({ "database": database, "page": page, "p50_ms": p50, "p95_ms": p95, "bytes": bytes })
    }
}

pub(crate) async fn measure(
    database: &'static str,
    db: &Db,
    sights: &Sights,
    tasks: u32,
    rounds: u32,
) -> Outcome<Vec<Figure>> {
    let app = pgflow_web::router(db, Options::new());
    let (middle, later) = (after(&app, "/runs").await?, after(&app, "/jobs").await?);
    let Sights { orders: run, deep, wide, open } = sights;
    let late = tasks * 3 / 4;
    let pages = [
        ("overview", "/".to_owned()),
        ("runs", "/runs".to_owned()),
        ("runs, second page", middle),
        ("runs of a flow with one run", "/runs?flow=orders".to_owned()),
        ("runs of the flow with most", "/runs?flow=tick".to_owned()),
        ("failed runs of the flow with most", "/runs?flow=tick&status=failed".to_owned()),
        (
            "runs of it that go on, of which there are none",
            "/runs?flow=tick&status=started".to_owned(),
        ),
        ("failed runs", "/runs?status=failed".to_owned()),
        ("cancelled runs, of which there are none", "/runs?status=cancelled".to_owned()),
        ("runs that go on, of which there are none", "/runs?status=started".to_owned()),
        ("completed runs", "/runs?status=completed".to_owned()),
        ("run", format!("/runs/{run}")),
        ("step of a run", format!("/runs/{run}?step=pack")),
        ("failed tasks of a step", format!("/runs/{run}?step=pack&only=failed")),
        ("task of a step", format!("/runs/{run}?step=pack&task=700")),
        ("run of 200 steps", format!("/runs/{deep}")),
        ("step of a run of 200", format!("/runs/{deep}?step=step_150")),
        ("run with a map of 100,000", format!("/runs/{wide}")),
        ("its map", format!("/runs/{wide}?step=each")),
        ("failed tasks of its map", format!("/runs/{wide}?step=each&only=failed")),
        ("last tasks of its map", format!("/runs/{wide}?step=each&after={late}")),
        ("task of its map", format!("/runs/{wide}?step=each&task={late}")),
        ("run with a map of 100,000 that goes on", format!("/runs/{open}")),
        ("its map, half done", format!("/runs/{open}?step=each")),
        ("failed tasks of a map that goes on", format!("/runs/{open}?step=each&only=failed")),
        ("what it waits for", format!("/runs/{open}?why=1")),
        ("search by the beginning of an id", "/runs?q=019a".to_owned()),
        ("flows", "/flows".to_owned()),
        ("flow with many runs", "/flows/tick".to_owned()),
        ("flow with one run", "/flows/orders".to_owned()),
        ("workers", "/workers".to_owned()),
        ("jobs", "/jobs".to_owned()),
        ("jobs, second page", later),
        ("jobs of a need", "/jobs?need=need-7".to_owned()),
        ("ready jobs", "/jobs?status=ready".to_owned()),
        ("jobs in concern", "/jobs?status=concern".to_owned()),
        ("search by the beginning of a job's name", "/jobs?q=job-".to_owned()),
        ("job", "/job?id=job-77".to_owned()),
        ("queues", "/queues".to_owned()),
        ("dead letters", "/dead".to_owned()),
        ("dead letters of a need", "/dead?need=need-7".to_owned()),
        ("waits", "/waits".to_owned()),
        ("schedules", "/schedules".to_owned()),
        ("job with a trace of 10,000 lines", "/job?id=traced".to_owned()),
        ("metrics, 100,000 jobs counted", "/metrics".to_owned()),
        ("live overview, the first look", "/live/overview".to_owned()),
        ("live run of 200 steps", format!("/live/runs/{deep}")),
        ("live run with a map of 100,000", format!("/live/runs/{open}")),
    ];
    let mut figures = Vec::new();
    for (page, path) in pages {
        let mut times = Vec::new();
        let (mut bytes, _) = ask(&app, &path).await?;
        for _ in 0..rounds {
            let (size, took) = ask(&app, &path).await?;
            times.push(took);
            bytes = size;
        }
        times.sort_unstable();
        let at = |percent: usize| {
            milliseconds(times[(times.len() * percent / 100).min(times.len() - 1)])
        };
        figures.push(Figure { database, page, p50: at(50), p95: at(95), bytes });
    }
    Ok(figures)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

async fn ask(app: &Router, path: &str) -> Outcome<(usize, Duration)> {
    if path.starts_with("/live/") {
        return first_look(app, path).await;
    }
    let (text, took) = page(app, path).await?;
    Ok((text.len(), took))
}

/// Until somebody who begins to look at something live is shown it.
async fn first_look(app: &Router, path: &str) -> Outcome<(usize, Duration)> {
    let start = Instant::now();
    let event = listen(app, path, None).await?.next().await?.ok_or("there is nothing to see")?;
    Ok((event.data.len(), start.elapsed()))
}

async fn page(app: &Router, path: &str) -> Outcome<(String, Duration)> {
    let start = Instant::now();
    let response = app.clone().oneshot(Request::get(path).body(Body::empty())?).await?;
    let status = response.status();
    let body = to_bytes(response.into_body(), 64 << 20).await?;
    let took = start.elapsed();
    let text = String::from_utf8(body.to_vec())?;
    if status.is_success() {
        Ok((text, took))
    } else {
        Err(format!("{path}: {status}\n{text}").into())
    }
}

/// Where the list goes on after its first page.
async fn after(app: &Router, list: &str) -> Outcome<String> {
    let (text, _) = page(app, list).await?;
    let next = text.split_once("rel=\"next\" href=\"").ok_or("there is no next page")?.1;
    Ok(next.split('"').next().unwrap_or_default().replace("&amp;", "&"))
}
