//! Signals over HTTP: what each of them is answered, and who may send them.

use std::io;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::middleware::{Next, from_fn, map_request};
use axum::response::Response;
use pgflow::{Run, RunStatus, Worker};
use pgflow_example_web::{Draft, Mailbox, article};
use pgflow_web::{Access, Options};
use pgflow_web_tests::{Outcome, Visitor};
use pgflow_worker_tests::{Fresh, Working, everywhere};
use serde_json::{Value, json};
use tower::ServiceExt;

everywhere!(each_outcome_has_its_status, many_equal_signals_are_one, only_so_many_are_kept);

const YES: &str = r#"{"by":"Ann","is_approved":true}"#;
const NO: &str = r#"{"by":"Ann","is_approved":false}"#;
const JSON: (&str, &str) = ("content-type", "application/json");

/// A run that waits, and where to signal.
pub(crate) struct Desk {
    pub(crate) run: Run<article::Flow>,
    worker: Working,
    hook: String,
}

impl Desk {
    pub(crate) async fn new(fresh: &Fresh) -> Outcome<Self> {
        fresh.db.register(article::Flow).await?;
        let mailbox = Mailbox::default();
        let worker = Worker::new(&fresh.db).flow(article::Flow).state(mailbox.clone());
        let worker = Working::start(worker);
        let run = fresh.db.start(article::Flow, &Draft { text: "Hooks".into() }).await?;
        let mut events = run.events();
        while events.next().await.ok_or("it ended")??.what.word() != "step:waiting" {}
        let hook = mailbox.letters().remove(0).approve_at.replace("/api", "");
        Ok(Self { run, worker, hook })
    }

    pub(crate) fn token(&self) -> &str {
        self.hook.trim_start_matches("/hooks/")
    }

    pub(crate) async fn close(self) -> Outcome {
        assert_eq!(self.run.wait().await?, RunStatus::Completed);
        self.worker.stop().await?;
        Ok(())
    }
}

async fn post(
    app: &Router,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Body>,
) -> Outcome<(u16, Value)> {
    let request = Request::post(path);
    let request = headers.iter().fold(request, |it, (name, value)| it.header(*name, *value));
    let answer = app.clone().oneshot(request.body(body.into())?).await?;
    let status = answer.status().as_u16();
    let bytes = to_bytes(answer.into_body(), 1 << 20).await?;
    Ok((status, serde_json::from_slice(&bytes).unwrap_or_default()))
}

async fn each_outcome_has_its_status(fresh: Fresh) -> Outcome {
    let desk = Desk::new(&fresh).await?;
    let (app, hook) = (pgflow_web::api(&fresh.db, Options::new().named_hooks(true)), &*desk.hook);
    let long = "x".repeat(201);
    let (long_token, long_key) = (format!("/hooks/{long}"), [JSON, ("idempotency-key", &*long)]);
    let guessed = format!("/hooks/hk_{}", "a".repeat(43));
    let large = format!("\"{}\"", "x".repeat(4 << 20));
    let deep = "[".repeat(101) + &"]".repeat(101);
    let key = |key| [JSON, ("idempotency-key", key)];
    for (path, headers, body, status, text) in [
        (hook, &[JSON][..], r#"{"by":7,"is_approved":true}"#, 422, "/by"),
        (hook, &[JSON], "\"yes\"", 422, "path"),
        (hook, &[JSON], &deep, 422, "nested deeper"),
        (hook, &[JSON], "{", 400, "the body is no JSON"),
        (hook, &[], YES, 415, "Content-Type: application/json"),
        (hook, &[("content-type", "text/plain")], YES, 415, "Content-Type: application/json"),
        (hook, &[JSON], &large, 413, "a body may have 4194304 bytes"),
        (hook, &long_key, YES, 400, "`Idempotency-Key` has more than 200 bytes"),
        (hook, &key(""), YES, 400, "`Idempotency-Key` is empty"),
        (&long_token, &[JSON], YES, 404, "there is no such hook"),
        (&guessed, &[JSON], YES, 410, "nobody waits for this"),
        ("/hooks/order-7", &key("1"), YES, 202, "buffered"),
        ("/hooks/order-7", &key("1"), YES, 200, "duplicate"),
        ("/hooks/order-7", &key("1"), r#"{"is_approved":true,"by":"Ann"}"#, 200, "duplicate"),
        ("/hooks/order-7", &key("1"), NO, 409, "another body"),
        (
            hook,
            &[("content-type", "application/vnd.x+json; charset=utf-8"), ("idempotency-key", "1")],
            YES,
            200,
            "delivered",
        ),
        (hook, &key("1"), YES, 200, "duplicate"),
        (hook, &key("1"), NO, 409, "another body"),
        (hook, &key("2"), YES, 410, "nobody waits for this"),
        (hook, &[JSON], YES, 410, "nobody waits for this"),
    ] {
        let (given, answer) = post(&app, path, headers, body.to_owned()).await?;
        let answer = answer.to_string();
        let short: String = body.chars().take(40).collect();
        assert_eq!(given, status, "{short} {headers:?}: {answer}");
        assert!(answer.contains(text), "{short} {headers:?}: {answer}");
        assert!(!answer.contains(desk.token()), "a token is nobody's business: {answer}");
    }
    let read = app.clone().oneshot(Request::get(hook).body(Body::empty())?).await?;
    assert_eq!(read.status(), 405);
    assert_eq!(desk.run.output().await?.publish, "Hooks: approved by Ann");
    desk.close().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_breaks_off_is_not_too_large() -> Outcome {
    let fresh = Fresh::memory().await?;
    let app = pgflow_web::api(&fresh.db, Options::new().named_hooks(true));
    let parts = [Ok("{"), Err(io::Error::from(io::ErrorKind::ConnectionReset))];
    let body = Body::from_stream(futures_util::stream::iter(parts));
    let (status, answer) = post(&app, "/hooks/order-7", &[JSON], body).await?;
    assert_eq!((status, &answer["error"]), (400, &json!("the body broke off before its end")));
    Ok(())
}

async fn many_equal_signals_are_one(fresh: Fresh) -> Outcome {
    let desk = Desk::new(&fresh).await?;
    let app = pgflow_web::api(&fresh.db, Options::new());
    let signals = (0..50).map(|_| {
        let (app, hook) = (app.clone(), desk.hook.clone());
        tokio::spawn(async move { post(&app, &hook, &[JSON, ("idempotency-key", "k")], YES).await })
    });
    let mut delivered = 0;
    for signal in signals.collect::<Vec<_>>() {
        let (status, answer) = signal.await??;
        assert_eq!(status, 200, "{answer}");
        delivered += usize::from(answer == json!({ "outcome": "delivered" }));
    }
    assert_eq!(delivered, 1);
    desk.close().await
}

async fn only_so_many_are_kept(fresh: Fresh) -> Outcome {
    let app = pgflow_web::api(&fresh.db, Options::new().named_hooks(true));
    for number in 0..100 {
        let kept = post(&app, "/hooks/order-8", &[JSON], number.to_string()).await?;
        assert_eq!(kept, (202, json!({ "outcome": "buffered" })), "{number}");
    }
    let (status, answer) = post(&app, "/hooks/order-8", &[JSON], "100").await?;
    assert_eq!(status, 429, "{answer}");
    assert!(answer["error"].as_str().is_some_and(|text| !text.is_empty()), "{answer}");
    assert_eq!(post(&app, "/hooks/order-9", &[JSON], "0").await?.0, 202, "others are not full");
    Ok(())
}

/// `x-user` says who it is.
fn who(headers: &axum::http::HeaderMap) -> Access {
    match headers.get("x-user").map(axum::http::HeaderValue::as_bytes) {
        Some(b"operator") => Access::Act,
        Some(b"guest") => Access::Read,
        _ => Access::Deny,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_those_signal_who_may() -> Outcome {
    let fresh = Fresh::memory().await?;
    let desk = Desk::new(&fresh).await?;
    let guarded = pgflow_web::api(&fresh.db, Options::new().auth(who));
    let (guest, operator) = (("x-user", "guest"), ("x-user", "operator"));
    assert_eq!(post(&guarded, &desk.hook, &[JSON], YES).await?.0, 401);
    assert_eq!(post(&guarded, &desk.hook, &[JSON, guest], YES).await?.0, 403);
    assert_eq!(post(&guarded, "/hooks/name", &[JSON, operator], YES).await?.0, 202);
    // The token is enough, unless anybody could guess it.
    let open = pgflow_web::api(&fresh.db, Options::new().auth(who).open_hooks(true));
    assert_eq!(post(&open, "/hooks/name", &[JSON], YES).await?.0, 404);
    assert_eq!(post(&open, "/hooks/name", &[JSON, guest], YES).await?.0, 404);
    assert_eq!(post(&open, "/hooks/name", &[JSON, operator], YES).await?.0, 202);
    // Without anybody who says who it is, too.
    let unguarded = pgflow_web::api(&fresh.db, Options::new());
    assert_eq!(post(&unguarded, "/hooks/name", &[JSON], YES).await?.0, 404);
    let seen_to = pgflow_web::api(&fresh.db, Options::new().named_hooks(true));
    assert_eq!(post(&seen_to, "/hooks/name", &[JSON], YES).await?.0, 202);
    // The dashboard takes none, unless it is to.
    let dashboard = pgflow_web::router(&fresh.db, Options::new());
    assert_eq!(post(&dashboard, &desk.hook, &[JSON], YES).await?.0, 404);
    assert_eq!(post(&open, &desk.hook, &[JSON], YES).await?.0, 200);
    desk.close().await
}

/// What is written to the log.
#[derive(Clone, Debug, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().map_err(|_| io::ErrorKind::Other)?.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Says that a process is for one test alone.
const ALONE: &str = "PGFLOW_TEST_ALONE";

/// In a process of its own: who else is in a process decides what is logged there.
#[test]
fn no_log_has_a_token() -> Outcome {
    if std::env::var_os(ALONE).is_some() {
        return tokio::runtime::Runtime::new()?.block_on(signals_are_logged_without_tokens());
    }
    let alone = std::process::Command::new(std::env::current_exe()?)
        .args(["--exact", "hooks::no_log_has_a_token"])
        .env(ALONE, "1")
        .output()?;
    let said = String::from_utf8_lossy(&alone.stdout);
    assert!(alone.status.success() && said.contains("1 passed"), "{said}");
    Ok(())
}

async fn signals_are_logged_without_tokens() -> Outcome {
    let written = Written::default();
    let log = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_span_events(tracing_subscriber::fmt::format::FmtSpan::FULL)
        .with_writer({
            let written = written.clone();
            move || written.clone()
        })
        .finish();
    tracing_subscriber::util::SubscriberInitExt::try_init(log)?;
    for fresh in [Fresh::sqlite().await?, Fresh::mysql().await?, Fresh::postgres().await?] {
        signals_are_logged_without_tokens_of(&fresh, &written).await?;
    }
    Ok(())
}

async fn signals_are_logged_without_tokens_of(fresh: &Fresh, written: &Written) -> Outcome {
    written.0.lock().map_err(|_| "poisoned")?.clear();
    let desk = Desk::new(fresh).await?;
    let visitor = Visitor::of(pgflow_web::api(&fresh.db, Options::new())).await?;
    for (body, status) in [("{", 400), ("7", 422), (YES, 200), (YES, 410)] {
        assert_eq!(visitor.post(&desk.hook, &[JSON], body).await?.0, status);
    }
    let token = desk.token().to_owned();
    desk.close().await?;
    let log = String::from_utf8(written.0.lock().map_err(|_| "poisoned")?.clone())?;
    let driver = fresh.db.backend().name();
    assert!(log.contains("TRACE") && log.len() > 1_000, "{driver}: nothing was logged");
    let line = log.lines().find(|line| line.contains(&token));
    assert_eq!(line, None, "{driver}: a token is in the log");
    Ok(())
}

/// What a layer that traces requests sees of them.
#[derive(Clone, Debug, Default)]
struct Traced(Arc<Mutex<Vec<String>>>);

impl Traced {
    async fn see(self, request: Request, next: Next) -> Response {
        let original = request.extensions().get::<axum::extract::OriginalUri>();
        let seen = format!("{} {original:?}", request.uri());
        if let Ok(mut all) = self.0.lock() {
            all.push(seen);
        }
        next.run(request).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn layers_below_do_not_see_tokens_that_are_hidden() -> Outcome {
    let fresh = Fresh::memory().await?;
    let desk = Desk::new(&fresh).await?;
    let traced = Traced::default();
    let see = {
        let traced = traced.clone();
        move |request: Request, next: Next| traced.clone().see(request, next)
    };
    let app = Router::new()
        .nest("/api", pgflow_web::api(&fresh.db, Options::new()))
        .layer(from_fn(see))
        .layer(map_request(pgflow_web::hide_tokens));
    let path = format!("/api{}?token={}", desk.hook, desk.token());
    assert_eq!(post(&app, &path, &[JSON], YES).await?.0, 200);
    let seen = traced.0.lock().map_err(|_| "poisoned")?.concat();
    assert!(seen.starts_with("/api/hooks/- "), "{seen}");
    assert!(!seen.contains(desk.token()), "{seen}");
    desk.close().await
}
