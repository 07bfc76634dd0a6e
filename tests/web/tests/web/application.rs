//! The example application, over a real connection.

use std::time::Duration;

use pgflow_example_web::{Mailbox, app, prepare, worker};
use pgflow_web::Options;
use pgflow_web_tests::{Outcome, SseEvent, Visitor};
use pgflow_worker_tests::{Fresh, Working, on};

on!(sqlite: words_come_as_they_are_written, a_letter_is_answered_and_the_run_goes_on);
on!(postgres: words_come_as_they_are_written, a_letter_is_answered_and_the_run_goes_on);

/// What the model says.
const ANSWER: &str =
    "Because the sky is full of tiny things that throw blue light around more than red.";

fn words(events: &[SseEvent]) -> Outcome<String> {
    let mut words = Vec::new();
    for event in events.iter().filter(|event| event.name == "message") {
        let token: serde_json::Value = serde_json::from_str(&event.data)?;
        words.push(token["word"].as_str().ok_or("no word")?.to_owned());
    }
    Ok(words.join(" "))
}

async fn words_come_as_they_are_written(fresh: Fresh) -> Outcome {
    prepare(&fresh.db).await?;
    let mailbox = Mailbox::default();
    let worker = Working::start(worker(&fresh.db, &mailbox));
    let options = Options::new().keep_alive(Duration::from_millis(100));
    let visitor = Visitor::of(app(&fresh.db, mailbox, &options)).await?;
    let (status, started) = visitor.post("/answers", &[], "Why is the sky blue?").await?;
    assert_eq!(status, 202, "{started}");
    let run = started["run"].as_str().ok_or("no run")?.to_owned();

    let stream = format!("/api/runs/{run}/steps/write/stream");
    let heard = visitor.listen(&stream, None).await?.rest().await?;
    let again = heard.iter().position(|event| event.name == "restarted").ok_or("no new attempt")?;
    assert_eq!(words(&heard[again..])?, ANSWER);
    assert_eq!(heard.last().map(|event| &*event.name), Some("end"));

    // A connection broke after some words of the second attempt.
    let seen = &heard[again + 3];
    let rest = visitor.listen(&stream, Some(&seen.id)).await?.rest().await?;
    assert_eq!(rest, heard[again + 4..]);

    let events = visitor.listen(&format!("/api/runs/{run}/events"), None).await?.rest().await?;
    assert!(events.iter().any(|event| event.data.contains("\"run:completed\"")), "{events:?}");
    let page = visitor.get(&format!("/flows/runs/{run}")).await?;
    assert!(page.contains("completed"), "{page}");
    worker.stop().await?;
    Ok(())
}

async fn a_letter_is_answered_and_the_run_goes_on(fresh: Fresh) -> Outcome {
    prepare(&fresh.db).await?;
    let mailbox = Mailbox::default();
    let worker = Working::start(worker(&fresh.db, &mailbox));
    let visitor = Visitor::of(app(&fresh.db, mailbox, &Options::new())).await?;
    let (_, started) = visitor.post("/articles", &[], "Streams").await?;
    let run = started["run"].as_str().ok_or("no run")?.to_owned();
    let mut events = visitor.listen(&format!("/api/runs/{run}/events"), None).await?;
    while !events.next().await?.ok_or("it ended")?.data.contains("\"step:waiting\"") {}
    let letters: serde_json::Value = serde_json::from_str(&visitor.get("/letters").await?)?;
    let hook = letters[0]["approve_at"].as_str().ok_or("no letter")?;
    let json = [("content-type", "application/json"), ("idempotency-key", "1")];
    let yes = r#"{"by":"Ann","is_approved":true}"#;
    let (status, answer) = visitor.post(hook, &json, yes).await?;
    assert_eq!((status, &answer["outcome"]), (200, &"delivered".into()), "{answer}");
    let (status, answer) = visitor.post(hook, &json, yes).await?;
    assert_eq!((status, &answer["outcome"]), (200, &"duplicate".into()), "{answer}");
    let rest = events.rest().await?;
    assert!(rest.iter().any(|event| event.data.contains("Streams: approved by Ann")), "{rest:?}");
    worker.stop().await?;
    Ok(())
}
