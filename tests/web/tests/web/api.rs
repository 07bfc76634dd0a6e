//! Events and streams as server-sent events, as programs meet them.

use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use pgflow::{Run, Worker};
use pgflow_web::{Options, basic};
use pgflow_web_tests::{Breath, Outcome, SseEvent, Story, ask, listen, tale};
use pgflow_worker_tests::{Fresh, Working, everywhere};
use serde_json::{Value, json};
use tower::ServiceExt;

everywhere!(
    a_log_is_told_from_any_place_to_its_end,
    a_stream_is_told_as_it_grows,
    who_comes_back_is_told_that_another_attempt_began,
    elements_of_a_map_have_streams_of_their_own,
    wrong_addresses_are_told_in_json,
);

/// A worker that tells stories, and what programs ask.
struct Stage {
    fresh: Fresh,
    worker: Working,
    api: Router,
}

impl Stage {
    async fn new(fresh: Fresh, breath: &Breath, options: Options) -> Outcome<Self> {
        fresh.db.register(tale::Flow).await?;
        let worker = Worker::new(&fresh.db).flow(tale::Flow).state(breath.clone());
        let api = pgflow_web::api(&fresh.db, options);
        Ok(Self { worker: Working::start(worker), api, fresh })
    }

    async fn start(&self, story: &Story) -> Outcome<Run<tale::Flow>> {
        Ok(self.fresh.db.start(tale::Flow, story).await?)
    }
}

fn events_of(run: &Run<tale::Flow>) -> String {
    format!("/runs/{}/events", run.id())
}

fn stream_of(run: &Run<tale::Flow>, step: &str) -> String {
    format!("/runs/{}/steps/{step}/stream", run.id())
}

fn ids(events: &[SseEvent]) -> Vec<&str> {
    events.iter().map(|event| &*event.id).collect()
}

/// Names of those that are none, what they carry of the others.
fn said(events: &[SseEvent]) -> Vec<String> {
    let text = |event: &SseEvent| match &*event.name {
        "message" => event.data.clone(),
        name => format!("{name} {}", event.data),
    };
    events.iter().map(text).collect()
}

async fn a_log_is_told_from_any_place_to_its_end(fresh: Fresh) -> Outcome {
    let breath = Breath::of(0);
    let stage = Stage::new(fresh, &breath, Options::new()).await?;
    let run = stage.start(&Story::of(&["one", "two"])).await?;
    let mut early = listen(&stage.api, &events_of(&run), None).await?;
    let first = early.next().await?.ok_or("no event")?;
    let json: Value = serde_json::from_str(&first.data)?;
    assert_eq!((&*first.id, &*first.name, &json["event"]), ("1", "message", &json!("run:started")));
    assert_eq!((&json["seq"], &json["input"]["words"][1]), (&json!(1), &json!("two")));
    assert!(json["at"].as_str().is_some_and(|at| at.starts_with("20") && at.ends_with('Z')));

    breath.words.add_permits(2);
    let mut whole = vec![first];
    whole.extend(early.rest().await?);
    let last = whole.len() - 1;
    assert_eq!(said(&whole)[last], "end {}");
    let numbers: Vec<_> = (1..=last).map(|number| number.to_string()).collect();
    assert_eq!(ids(&whole[..last]), numbers);
    assert!(whole[last - 1].data.contains("run:completed"), "{:?}", whole[last - 1]);

    // Later, and from the middle, it is the same.
    assert_eq!(listen(&stage.api, &events_of(&run), None).await?.rest().await?, whole);
    for seen in [1, 3, last] {
        let seen_id = seen.to_string();
        let mut back = listen(&stage.api, &events_of(&run), Some(&seen_id)).await?;
        assert_eq!(back.rest().await?, whole[seen..], "after {seen}");
    }
    stage.worker.stop().await?;
    Ok(())
}

async fn a_stream_is_told_as_it_grows(fresh: Fresh) -> Outcome {
    let breath = Breath::of(1);
    let stage = Stage::new(fresh, &breath, Options::new()).await?;
    let run = stage.start(&Story::of(&["one\ntwo", "\"three\"", "four"])).await?;
    let path = stream_of(&run, "tell");
    let mut early = listen(&stage.api, &path, None).await?;
    let first = early.next().await?.ok_or("no event")?;
    assert_eq!((&*first.id, &*first.data), ("0", r#""one\ntwo""#));
    // While it goes on, who comes back goes on where it was; who has seen what was never said has not.
    let mut back = listen(&stage.api, &path, Some("0")).await?;
    for unsaid in ["1", "7", "18446744073709551615"] {
        let refused = ask(&stage.api, &path, &[("last-event-id", unsaid)]).await?;
        assert_eq!(refused.status(), 400, "{unsaid}");
        let json: Value = serde_json::from_slice(&to_bytes(refused.into_body(), 9_999).await?)?;
        assert_eq!(json["error"], format!("the stream has no chunk {unsaid} yet"));
    }
    breath.words.add_permits(2);
    let rest = early.rest().await?;
    assert_eq!(said(&rest), [r#""\"three\"""#, r#""four""#, "end {}"]);
    assert_eq!(ids(&rest), ["1", "2", ""]);
    assert_eq!(back.rest().await?, rest);

    let of = async |path: &str, last: Option<&str>| -> Outcome<Vec<String>> {
        Ok(said(&listen(&stage.api, path, last).await?.rest().await?))
    };
    assert_eq!(of(&path, None).await?, [r#""one\ntwo""#, r#""\"three\"""#, r#""four""#, "end {}"]);
    assert_eq!(of(&path, Some("1")).await?, [r#""four""#, "end {}"]);
    assert_eq!(of(&path, Some("2")).await?, ["end {}"]);
    assert_eq!(of(&path, Some("999")).await?, ["end {}"], "what is beyond the end is the end");
    assert_eq!(of(&format!("{path}?last=1"), None).await?, [r#""four""#, "end {}"]);
    stage.worker.stop().await?;
    Ok(())
}

async fn who_comes_back_is_told_that_another_attempt_began(fresh: Fresh) -> Outcome {
    let breath = Breath::of(1);
    let stage = Stage::new(fresh, &breath, Options::new()).await?;
    let run = stage.start(&Story { broken: 1, ..Story::of(&["one", "two"]) }).await?;
    let path = stream_of(&run, "tell");
    let mut early = listen(&stage.api, &path, None).await?;
    assert_eq!(early.next().await?.ok_or("no event")?.data, r#""one""#);
    breath.words.add_permits(2);
    let restarted = r#"restarted {"attempt":2}"#;
    assert_eq!(said(&early.rest().await?), [restarted, r#""one""#, r#""two""#, "end {}"]);

    // It had all that the first attempt said, and nothing of the second.
    let back = listen(&stage.api, &path, Some("0")).await?.rest().await?;
    assert_eq!(said(&back), [restarted, r#""one""#, r#""two""#, "end {}"]);
    assert_eq!(ids(&back), ["", "1", "2", ""]);
    let second = listen(&stage.api, &path, Some("1")).await?.rest().await?;
    assert_eq!(said(&second), [r#""two""#, "end {}"], "what it has is of the second");
    let all = listen(&stage.api, &format!("{path}?all=true"), None).await?.rest().await?;
    assert_eq!(said(&all), [r#""one""#, restarted, r#""one""#, r#""two""#, "end {}"]);

    // An attempt that fails for good is the end of what it said.
    breath.words.add_permits(9);
    let lost = stage.start(&Story { broken: 2, ..Story::of(&["one", "two"]) }).await?;
    lost.wait().await?;
    let lost = listen(&stage.api, &stream_of(&lost, "tell"), None).await?.rest().await?;
    let lost = said(&lost);
    assert_eq!(lost.len(), 2, "{lost:?}");
    assert!(lost[1].starts_with("failed {\"reason\":\""), "{lost:?}");
    stage.worker.stop().await?;
    Ok(())
}

async fn elements_of_a_map_have_streams_of_their_own(fresh: Fresh) -> Outcome {
    let stage = Stage::new(fresh, &Breath::of(9), Options::new()).await?;
    let run = stage.start(&Story::of(&["one", "two"])).await?;
    for (index, word) in ["one", "two"].iter().enumerate() {
        let path = format!("{}?index={index}", stream_of(&run, "echo"));
        let heard = listen(&stage.api, &path, None).await?.rest().await?;
        assert_eq!(said(&heard), [format!("\"{word}, {word}\""), "end {}".to_owned()]);
    }
    stage.worker.stop().await?;
    Ok(())
}

async fn wrong_addresses_are_told_in_json(fresh: Fresh) -> Outcome {
    let stage = Stage::new(fresh, &Breath::of(9), Options::new()).await?;
    let run = stage.start(&Story::of(&["one"])).await?;
    run.wait().await?;
    let nobody = "018f3c1e-0000-7000-8000-000000000001";
    let large = "x".repeat(20_000);
    for (path, header, status, sentence) in [
        ("/runs/seven/events".to_owned(), None, 404, "is not the id of a run"),
        (format!("/runs/{nobody}/events"), None, 404, "there is no run 018f3c1e"),
        (format!("/runs/{nobody}/steps/tell/stream"), None, 404, "there is no run 018f3c1e"),
        (stream_of(&run, "none"), None, 404, "the run has no step `none`"),
        (format!("{}?index=x", stream_of(&run, "tell")), None, 400, "invalid digit"),
        (format!("{}?odd=1", stream_of(&run, "tell")), None, 400, "unknown field `odd`"),
        (events_of(&run), Some("x"), 400, "`Last-Event-ID` is the number"),
        (events_of(&run), Some("4711"), 400, "the run has no event 4711 yet"),
        (stream_of(&run, "tell"), Some("-1"), 400, "`Last-Event-ID` is the number"),
        (events_of(&run), Some(&*large), 431, "headers of a request may have 16384 bytes"),
        ("/nowhere".to_owned(), None, 404, "there is no such route"),
        (
            format!("{}?index=1", stream_of(&run, "tell")),
            None,
            404,
            "`tell` of the run has no task 1",
        ),
        (
            format!("{}?index=1", stream_of(&run, "echo")),
            None,
            404,
            "`echo` of the run has no task 1",
        ),
        ("/runs/%ff/events".to_owned(), None, 404, "Invalid UTF-8"),
        ("/runs/%ff/steps/tell/stream".to_owned(), None, 404, "Invalid UTF-8"),
    ] {
        let headers: Vec<_> = header.map(|last| ("last-event-id", last)).into_iter().collect();
        let response = ask(&stage.api, &path, &headers).await?;
        assert_eq!(response.status(), status, "{path}");
        assert_eq!(response.headers()["content-type"], "application/json", "{path}");
        let json: Value = serde_json::from_slice(&to_bytes(response.into_body(), 9_999).await?)?;
        let error = json["error"].as_str().ok_or("no error")?;
        assert!(error.contains(sentence), "{path}: {error}");
    }
    for (path, allowed) in [
        (events_of(&run), "GET,HEAD"),
        (stream_of(&run, "tell"), "GET,HEAD"),
        ("/hooks/name".to_owned(), "POST"),
    ] {
        let request = Request::delete(&path).body(Body::empty())?;
        let response = stage.api.clone().oneshot(request).await?;
        assert_eq!(
            (response.status().as_u16(), &response.headers()["allow"]),
            (405, &allowed.parse()?)
        );
        let json: Value = serde_json::from_slice(&to_bytes(response.into_body(), 9_999).await?)?;
        assert_eq!(json["error"], "this route has no such method", "{path}");
    }
    stage.worker.stop().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn quiet_connections_are_kept_alive() -> Outcome {
    let options = Options::new().keep_alive(Duration::from_millis(20));
    let stage = Stage::new(Fresh::sqlite().await?, &Breath::of(0), options).await?;
    let run = stage.start(&Story::of(&["one"])).await?;
    for path in [events_of(&run), stream_of(&run, "tell")] {
        listen(&stage.api, &path, None).await?.comment().await?;
    }
    stage.worker.stop().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_listens_without_the_password_and_nobody_sees_what_is_hidden() -> Outcome {
    let options = Options::new().auth(basic("ann", "secret")).hide_payloads();
    let stage = Stage::new(Fresh::sqlite().await?, &Breath::of(9), options.clone()).await?;
    let run = stage.start(&Story::of(&["4111-1111"])).await?;
    run.wait().await?;
    let dashboard = pgflow_web::router(&stage.fresh.db, options);
    for app in [&stage.api, &dashboard] {
        for path in [events_of(&run), stream_of(&run, "tell")] {
            let refused = ask(app, &path, &[]).await?;
            assert_eq!(refused.status(), 401, "{path}");
            assert!(refused.headers().contains_key("www-authenticate"));
            let right = [("authorization", "Basic YW5uOnNlY3JldA==")];
            let heard = ask(app, &path, &right).await?;
            assert_eq!(heard.status(), 200, "{path}");
            assert_eq!(heard.headers()["x-content-type-options"], "nosniff");
            assert_eq!(heard.headers()["cache-control"], "no-cache");
            let heard = to_bytes(heard.into_body(), 1 << 20).await?;
            let heard = String::from_utf8(heard.to_vec())?;
            assert!(heard.contains("hidden") && !heard.contains("4111"), "{heard}");
        }
    }
    stage.worker.stop().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_end_when_the_program_does() -> Outcome {
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let options = Options::new().until(async { _ = stopped.await });
    let stage = Stage::new(Fresh::sqlite().await?, &Breath::of(1), options).await?;
    let run = stage.start(&Story::of(&["one", "two"])).await?;
    let mut events = listen(&stage.api, &events_of(&run), None).await?;
    let mut words = listen(&stage.api, &stream_of(&run, "tell"), None).await?;
    assert!(events.next().await?.is_some() && words.next().await?.is_some());
    drop(stop);
    assert!(events.rest().await?.iter().all(|event| event.name != "end"), "it goes on");
    assert_eq!(words.rest().await?, []);
    Ok(())
}
