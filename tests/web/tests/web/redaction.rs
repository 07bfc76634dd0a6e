//! Payloads that nobody may see are nowhere on any page.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pgflow::prelude::*;
use pgflow_web::{Options, PayloadKind};
use pgflow_web_tests::{Listening, Order, Outcome, SseEvent, Tools, listen};
use pgflow_worker_tests::{Fresh, Working};
use sqlx::{Connection as _, SqliteConnection};
use tokio::io::AsyncReadExt;

use crate::jobs::{failed, settle, take};
use crate::place::{Place, path};

const SECRET: &str = "4111-1111";

async fn pages(place: &Place, run: &str) -> Outcome<String> {
    let mut all = String::new();
    for rest in [
        "",
        "?step=check",
        "?step=lines",
        "?step=pack",
        "?step=pack&only=failed",
        "?step=pack&task=0",
        "?step=pack&task=1",
        "?step=invoice",
    ] {
        let answer = place.dashboard.get(&format!("{run}{rest}"), &[]).await?;
        assert_eq!(answer.status, 200, "{rest}");
        all.push_str(&answer.body);
    }
    let mut stream = place.dashboard.send(&format!("GET /live{run}"), &[], "").await?;
    let mut bytes = Vec::new();
    while !String::from_utf8_lossy(&bytes).contains("</svg>") {
        let mut part = [0; 4096];
        let read = stream.read(&mut part).await?;
        assert!(read > 0, "the stream ended");
        bytes.extend_from_slice(&part[..read]);
    }
    all.push_str(&String::from_utf8_lossy(&bytes));
    Ok(all)
}

async fn order(place: &Place) -> Outcome<String> {
    let order = Order { customer: SECRET.into(), ..Order::of(0) };
    let run = place.ended(&order.with(SECRET).with(format!("broken {SECRET}"))).await?;
    Ok(path(&run))
}

#[tokio::test(flavor = "multi_thread")]
async fn hidden_payloads_are_nowhere() -> Outcome {
    let options = Options::new().hide_payloads();
    let place = Place::on(Fresh::sqlite().await?, &Tools::default(), options).await?;
    let run = order(&place).await?;
    let all = pages(&place, &run).await?;
    assert!(!all.contains(SECRET) && !all.contains("two pieces"), "{all}");
    assert!(all.contains("hidden"));
    place.close().await
}

/// What a job failed with, and what an attempt said that is tried again.
#[tokio::test(flavor = "multi_thread")]
async fn errors_of_dead_letters_and_of_reasons_are_hidden() -> Outcome {
    let options = Options::new().hide_payloads();
    let place = Place::on(Fresh::sqlite().await?, &Tools::default(), options).await?;
    place.db().submit_raw("docs", SECRET.into()).id("doc-1").await?;
    settle(&place, take(&place, "docs").await?, failed(SECRET)).await?;
    place.db().register(stubborn::Flow).await?;
    let worker = Working::start(Worker::new(place.db()).flow(stubborn::Flow));
    let run = place.db().start(stubborn::Flow, 1).await?;
    let page = format!("/runs/{}?why=1", run.id());
    let asked = loop {
        let asked = place.dashboard.get(&page, &[]).await?.body;
        if asked.contains("is tried again") {
            break asked;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    };
    assert!(!asked.contains(SECRET), "{asked}");
    let step = format!("/runs/{}?step=work", run.id());
    for path in ["/dead", "/", "/jobs?status=failed", "/job?id=doc-1", &step] {
        let page = place.dashboard.get(path, &[]).await?;
        assert_eq!(page.status, 200, "{path}");
        assert!(!page.body.contains(SECRET), "{path}: {}", page.body);
    }
    worker.stop().await?;
    place.close().await
}

/// What somebody has cancelled a job for, an error without a text, and why a schedule starts nothing.
#[tokio::test(flavor = "multi_thread")]
async fn reasons_of_jobs_and_errors_of_schedules_are_hidden() -> Outcome {
    let options = Options::new().hide_payloads();
    let place = Place::on(Fresh::sqlite().await?, &Tools::default(), options).await?;
    for id in ["asked", "silent", "cancelled"] {
        place.db().submit_raw("docs", 1.into()).id(id).await?;
    }
    take(&place, "docs").await?;
    settle(&place, take(&place, "docs").await?, failed("")).await?;
    for id in ["asked", "cancelled"] {
        place.db().job(&id.parse()?).cancel(SECRET).await?;
    }
    for (id, sentence) in [
        ("asked", "wants it cancelled"),
        ("silent", "the job ended as failed"),
        ("cancelled", "the job ended as cancelled"),
    ] {
        let page = place.dashboard.get(&format!("/job?id={id}"), &[]).await?.body;
        assert!(page.contains(sentence) && !page.contains(SECRET), "{id}: {page}");
    }
    place.db().register(stubborn::Flow).await?;
    place.db().schedule("nightly").flow(stubborn::Flow, &1).cron("0 3 * * *").await?;
    let file = place.fresh.url.strip_prefix("sqlite:").expect("a file");
    sqlx::raw_sql("update pgflow_schedules set error = '4111-1111 is odd'")
        .execute(&mut SqliteConnection::connect(file).await?)
        .await?;
    let page = place.dashboard.get("/schedules", &[]).await?.body;
    assert!(page.contains("hidden") && !page.contains(SECRET), "{page}");
    place.close().await
}

/// What the application redacts with may panic: who looks on is sent away, and comes back to what is there.
#[tokio::test(flavor = "multi_thread")]
async fn who_looks_on_begins_anew_after_a_panic() -> Outcome {
    let armed = Arc::new(AtomicBool::new(true));
    let options = || {
        let armed = armed.clone();
        Options::new().redact(move |_| assert!(!armed.swap(false, Ordering::SeqCst), "on purpose"))
    };
    let place = Place::on(Fresh::sqlite().await?, &Tools::default(), Options::new()).await?;
    place.db().submit_raw("docs", 1.into()).id("doc-1").await?;
    settle(&place, take(&place, "docs").await?, failed("no")).await?;
    let (pages, live) = (pgflow_web::router(place.db(), options()), "/live/job?id=doc-1");
    assert_eq!(next(&mut listen(&pages, live, None).await?).await?, None, "its reader is gone");
    let region = next(&mut listen(&pages, live, None).await?).await?.ok_or("no event")?;
    assert_eq!(region.name, "region");

    place.db().register(stubborn::Flow).await?;
    let run = place.db().start(stubborn::Flow, 1).await?;
    let (api, log) = (pgflow_web::api(place.db(), options()), format!("/runs/{}/events", run.id()));
    let mut events = listen(&api, &log, None).await?;
    let mut last = next(&mut events).await?.ok_or("no event")?;
    armed.store(true, Ordering::SeqCst);
    run.cancel("enough").await?;
    while let Some(event) = next(&mut events).await? {
        last = event;
    }
    let rest = listen(&api, &log, Some(&last.id)).await?.rest().await?;
    assert!(rest[0].data.contains("run:cancelled"), "{rest:?}");
    place.close().await
}

/// The next event, if there is one: nobody waits for ever.
async fn next(events: &mut Listening) -> Outcome<Option<SseEvent>> {
    tokio::time::timeout(std::time::Duration::from_mins(1), events.next()).await?
}

#[flow(input = u32, max_attempts = 3, base_delay = 600)]
mod stubborn {
    use super::*;

    #[step]
    async fn work(run: u32) -> Result<u32> {
        Err(format!("{SECRET} of {run} is refused").into())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn masked_payloads_show_the_rest() -> Outcome {
    let options = Options::new().redact(|payload| {
        let text = payload.value.to_string().replace(SECRET, "****");
        if let Ok(masked) = text.parse() {
            payload.value = masked;
        }
        assert!(
            payload.step.is_some() || payload.kind != PayloadKind::Output,
            "outputs are of steps"
        );
        assert_eq!(payload.flow, "orders");
    });
    let place = Place::on(Fresh::sqlite().await?, &Tools::default(), options).await?;
    let run = order(&place).await?;
    let all = pages(&place, &run).await?;
    assert!(!all.contains(SECRET), "{all}");
    assert!(all.contains("broken ****") && all.contains("two pieces") && all.contains("is_gift"));
    place.close().await
}
