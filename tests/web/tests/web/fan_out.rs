//! A thousand readers of a run are one reader of the database.

use axum::Router;
use axum::body::{Body, BodyDataStream};
use axum::http::Request;
use futures_util::StreamExt;
use pgflow::{Db, Worker};
use pgflow_web::Options;
use pgflow_web_tests::{Breath, Order, Outcome, Story, Tools, orders, tale};
use pgflow_worker_tests::{Flaky, Working};
use tower::ServiceExt;

const READERS: usize = 1_000;
/// One look each at the beginning, for the page it was opened from; hints and seconds make some more.
const FEW: u32 = 60;

async fn listen(app: &Router, path: &str, last: Option<&str>) -> Outcome<BodyDataStream> {
    let request = Request::get(path);
    let request = last.into_iter().fold(request, |request, id| request.header("last-event-id", id));
    let response = app.clone().oneshot(request.body(Body::empty())?).await?;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    Ok(response.into_body().into_data_stream())
}

/// The next event; comments that keep the connection alive are passed over.
async fn event(stream: &mut BodyDataStream) -> Outcome<Option<String>> {
    while let Some(part) = stream.next().await {
        let text = String::from_utf8(part?.to_vec())?;
        if !text.starts_with(':') {
            return Ok(Some(text));
        }
    }
    Ok(None)
}

fn id(event: &str) -> &str {
    event.lines().find_map(|line| line.strip_prefix("id: ")).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_readers_of_a_run_read_the_database_once() -> Outcome {
    let backend = Flaky::default();
    let db = Db::new(backend.clone());
    db.register(orders::Flow).await?;
    let tools = Tools::without_boxes();
    let worker = Working::start(Worker::new(&db).flow(orders::Flow).state(tools.clone()));
    let run = db.start(orders::Flow, &Order::of(1)).await?;
    let app = pgflow_web::router(&db, Options::new());
    let path = format!("/live/runs/{}", run.id());

    let before = backend.calls("run");
    let mut readers = Vec::new();
    for _ in 0..READERS {
        readers.push(listen(&app, &path, None).await?);
    }
    for reader in &mut readers {
        let first = event(reader).await?.ok_or("no event")?;
        assert!(first.contains("event: region") && first.contains("<svg"), "{first}");
    }
    let joined = backend.calls("run") - before;
    assert!(joined < FEW, "{joined} looks for {READERS} readers");

    tools.boxes.add_permits(1);
    for reader in &mut readers {
        loop {
            let next = event(reader).await?.ok_or("it ended without a word")?;
            if next.contains("event: end") {
                break;
            }
        }
        assert_eq!(event(reader).await?, None, "nothing follows the end");
    }
    let all = backend.calls("run") - before;
    assert!(all < 2 * FEW, "{all} looks for {READERS} readers");

    // Nobody listens any more, so nobody looks.
    let quiet = backend.calls("run");
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    assert_eq!(backend.calls("run"), quiet);
    worker.stop().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_seen_the_newest_is_not_sent_it_again() -> Outcome {
    let db = Db::new(Flaky::default());
    db.register(orders::Flow).await?;
    let run = db.start(orders::Flow, &Order::of(1)).await?;
    let app = pgflow_web::router(&db, Options::new());
    let path = format!("/live/runs/{}", run.id());
    let mut first = listen(&app, &path, None).await?;
    let newest = event(&mut first).await?.ok_or("no event")?;

    let mut late = listen(&app, &path, Some("0000000000000000")).await?;
    assert_eq!(
        event(&mut late).await?.as_deref().map(id),
        Some(id(&newest)),
        "it missed something"
    );
    let seen = format!("{path}?seen={}", id(&newest));
    let mut returned = listen(&app, &path, Some(id(&newest))).await?;
    let mut opened = listen(&app, &seen, None).await?;
    run.cancel(None).await?;
    for again in [&mut returned, &mut opened] {
        let next = event(again).await?.ok_or("no event")?;
        assert!(next.contains("data-status=\"cancelled\""), "only what is new: {next}");
    }
    Ok(())
}

/// A step that says one word, and then holds its breath.
#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_readers_of_a_log_and_a_stream_read_the_database_once() -> Outcome {
    let backend = Flaky::shared();
    let db = Db::new(backend.clone());
    db.register(tale::Flow).await?;
    let breath = Breath::of(1);
    let worker = Working::start(Worker::new(&db).flow(tale::Flow).state(breath.clone()));
    let run = db.start(tale::Flow, &Story::of(&["one", "two"])).await?;
    let api = pgflow_web::api(&db, Options::new());
    for (path, call) in [("events", "events"), ("steps/tell/stream", "read_stream")] {
        let path = format!("/runs/{}/{path}", run.id());
        let mut readers = Vec::new();
        for _ in 0..READERS {
            let mut reader = pgflow_web_tests::listen(&api, &path, None).await?;
            assert!(reader.next().await?.is_some());
            readers.push(reader);
        }
        // All are at the end of it, and one look is for all of them.
        tokio::time::sleep(std::time::Duration::from_secs(2)).await;
        let before = backend.calls(call);
        tokio::time::sleep(std::time::Duration::from_secs(3)).await;
        let looks = backend.calls(call) - before;
        assert!(looks < FEW, "{looks} looks at {path} for {READERS} readers");
        drop(readers);
        // Nobody reads any more, so nobody looks.
        let is_quiet = || async {
            let before = backend.calls(call);
            tokio::time::sleep(std::time::Duration::from_secs(2)).await;
            backend.calls(call) == before
        };
        while !is_quiet().await {}
    }
    breath.words.add_permits(1);
    run.wait().await?;
    worker.stop().await?;
    Ok(())
}
