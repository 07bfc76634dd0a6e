//! Queues, dead letters and schedules on the dashboard: shown, and steered by forms.

use pgflow::backend::{RunQuery, StageClaim};
use pgflow::pipeline::Rate;
use pgflow_machine::job::JobVerdict;
use pgflow_machine::permit::{BatchRule, Stage};
use pgflow_web::Options;
use pgflow_web_tests::hostile::TEXTS;
use pgflow_web_tests::{Order, Outcome, Tools, drive, orders};
use pgflow_worker_tests::{Fresh, everywhere};
use serde_json::json;

use crate::actions::{BROWSER, form};
use crate::escaping::is_harmless;
use crate::jobs::{failed, settle, take};
use crate::place::Place;

everywhere!(pages_show_what_is_there, forms_are_only_taken_from_a_page_of_ours);

/// A job that is dead.
async fn dead(place: &Place, id: &str, error: &str) -> Outcome {
    place.db().submit_raw("docs", json!({ "secret": id })).id(id).await?;
    settle(place, take(place, "docs").await?, failed(error)).await
}

/// A batch of two messages, which somebody has claimed.
async fn batch(place: &Place) -> Outcome {
    let wait = std::time::Duration::from_hours(1);
    let rule = BatchRule { len: 2, bytes: None, wait };
    let stage = Stage { batch: Some(rule), of_queue: true, ..Stage::default() };
    let queues = place.db().backend().pipelines()?;
    queues.note_stages(&[("pairs".to_owned(), stage.clone())].into()).await?;
    for number in [1, 2] {
        place.db().submit_raw("pairs", json!(number)).await?;
    }
    let claim = StageClaim { stage, ..StageClaim::new("worker", "pairs", 1) };
    assert_eq!(queues.claim_stage(&claim).await?.batches.len(), 1);
    Ok(())
}

async fn schedule(place: &Place, name: &str) -> Outcome {
    let nightly = place.db().schedule(name);
    nightly.flow(orders::Flow, &Order::of(1)).cron("0 3 * * *").timezone("Europe/Berlin").await?;
    Ok(())
}

async fn pages_show_what_is_there(fresh: Fresh) -> Outcome {
    let place = Place::on(fresh, &Tools::default(), Options::new()).await?;
    for path in ["/queues", "/dead", "/schedules"] {
        let page = place.dashboard.get(path, &[]).await?;
        assert_eq!(page.status, 200, "{path} of an empty database: {}", page.body);
    }
    for number in 1..=51 {
        dead(&place, &format!("doc-{number}"), "no <answer>").await?;
    }
    place.db().submit_raw("mail", json!(1)).id("letter").await?;
    place.db().queue("mail").pause().await?;
    schedule(&place, "nightly").await?;
    let page = async |path: &str| place.dashboard.get(path, &[]).await.map(|page| page.body);

    let dead = page("/dead").await?;
    assert!(dead.contains(">doc-51</a>") && !dead.contains(">doc-1</a>"), "the last first: {dead}");
    assert!(dead.contains("no &lt;answer&gt;") && !dead.contains("<form method"), "{dead}");
    let older = dead.split("rel=\"next\" href=\"").nth(1).ok_or("there is more")?;
    let older = older.split('"').next().unwrap_or_default().replace("&amp;", "&");
    assert!(page(&older).await?.contains(">doc-1</a>"));
    assert!(page("/dead?need=mail").await?.contains("There are none."));
    let wrong = place.dashboard.get("/dead?after=odd", &[]).await?;
    assert!(wrong.status == 400 && wrong.body.contains("not the end of a page"), "{}", wrong.body);

    let queues = page("/queues").await?;
    for sign in ["orders", "mail", "paused", "operator"] {
        assert!(queues.contains(sign), "no {sign}: {queues}");
    }
    if place.db().backend().pipelines().is_ok() {
        place.db().rate("api").set(Rate::per_minute(600)).await?;
        place.db().resource("gpu").capacity(4).await?;
        let queues = page("/queues").await?;
        assert!(queues.contains("600/min") && queues.contains("gpu"), "{queues}");
        assert!(!queues.contains("A batch has"), "there was none: {queues}");
        batch(&place).await?;
        let queues = page("/queues").await?;
        assert!(queues.contains("A batch has") && queues.contains(">2.0<"), "{queues}");
    } else {
        assert!(queues.contains("cannot run pipelines yet"), "it says so: {queues}");
    }
    let schedules = page("/schedules").await?;
    for sign in ["nightly", "/flows/orders", "0 3 * * *", "Europe/Berlin", "active"] {
        assert!(schedules.contains(sign), "no {sign}: {schedules}");
    }
    place.close().await
}

async fn forms_are_only_taken_from_a_page_of_ours(fresh: Fresh) -> Outcome {
    let place = Place::on(fresh, &Tools::default(), Options::new().actions(true)).await?;
    let db = place.db();
    dead(&place, "a&b", "no").await?;
    schedule(&place, "nightly").await?;
    let (cookie, token) = form(&place.dashboard, "/schedules").await?;
    let with = ("cookie", cookie.as_str());
    let all = [
        ("/queues/pause", "docs"),
        ("/queues/resume", "docs"),
        ("/dead/redrive", "a%26b"),
        ("/dead/drop", "a%26b"),
        ("/schedules/pause", "nightly"),
        ("/schedules/resume", "nightly"),
        ("/schedules/fire", "nightly"),
    ];
    for (path, name) in all {
        let right = format!("token={token}&name={name}");
        for (headers, body) in [
            (&[with, BROWSER][..], &*format!("name={name}")),
            (&[BROWSER], &*right),
            (&[with, ("sec-fetch-site", "cross-site")], &*right),
        ] {
            let answer = place.dashboard.post(path, headers, body).await?;
            assert_eq!(answer.status, 403, "{path}: {}", answer.body);
        }
    }
    assert!(db.paused_needs().await?.is_empty(), "nothing has happened");
    assert_eq!(db.queue("docs").dead(9).await?.len(), 1);
    assert!(db.list(&RunQuery::default()).await?.runs.is_empty());

    let send = async |path: &str, name: &str| {
        let body = format!("token={token}&name={name}");
        place.dashboard.post(path, &[with, BROWSER], &body).await
    };
    for (path, name, to) in [
        ("/queues/pause", "docs", "/queues?said=paused"),
        ("/queues/pause", "docs", "/queues?said=paused-before"),
        ("/dead/redrive", "a%26b", "/dead?said=redriven"),
        ("/dead/redrive", "a%26b", "/dead?said=not-dead"),
        ("/schedules/pause", "nightly", "/schedules?said=paused"),
        ("/schedules/resume", "nightly", "/schedules?said=resumed"),
        ("/schedules/fire", "nightly", "/schedules?said=fired"),
    ] {
        let answer = send(path, name).await?;
        assert_eq!(answer.header("location"), Some(to), "{path}: {}", answer.body);
    }
    assert!(take(&place, "docs").await.is_err(), "it is paused");
    assert_eq!(
        send("/queues/resume", "docs").await?.header("location"),
        Some("/queues?said=resumed")
    );
    settle(&place, take(&place, "docs").await?, failed("no")).await?;
    let dropped = send("/dead/drop", "a%26b").await?;
    if db.backend().pipelines().is_ok() {
        assert_eq!(dropped.header("location"), Some("/dead?said=dropped"), "{}", dropped.body);
        assert!(db.queue("docs").dead(9).await?.is_empty());
    } else {
        assert!(dropped.body.contains("cannot run pipelines yet"), "{}", dropped.body);
    }
    for (path, name, status) in [
        ("/queues/pause", "", 400),
        ("/queues/explode", "docs", 404),
        ("/dead/explode", "a", 404),
        ("/schedules/pause", "nobody", 404),
    ] {
        let answer = send(path, name).await?;
        assert_eq!(answer.status, status, "{path}: {}", answer.body);
    }
    place.close().await
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_only_read_cannot_steer() -> Outcome {
    let place = Place::on(Fresh::sqlite().await?, &Tools::default(), Options::new()).await?;
    dead(&place, "a", "no").await?;
    schedule(&place, "nightly").await?;
    let token = "0123456789abcdef".repeat(4);
    let cookie = format!("pgflow_form={token}");
    for (path, name) in
        [("/queues/pause", "docs"), ("/dead/drop", "a"), ("/schedules/pause", "nightly")]
    {
        let page = path.rsplit_once('/').map_or(path, |(page, _)| page);
        let shown = place.dashboard.get(page, &[]).await?;
        assert!(!shown.body.contains("name=\"token\""), "no form: {page}");
        let sent = [("cookie", cookie.as_str()), BROWSER];
        let body = format!("token={token}&name={name}");
        let answer = place.dashboard.post(path, &sent, &body).await?;
        assert_eq!(answer.status, 403, "{path}");
    }
    assert!(place.db().paused_needs().await?.is_empty());
    place.close().await
}

#[test]
fn an_operator_pauses_redrives_drops_and_schedules_by_click() -> Outcome {
    drive(async |browser| {
        let options = Options::new().actions(true);
        let place = Place::on(Fresh::sqlite().await?, &Tools::default(), options).await?;
        dead(&place, "doc-1", TEXTS[0]).await?;
        dead(&place, "doc-2", "timeout").await?;
        place.db().submit_raw("docs", json!(3)).id("doc-3").await?;
        place.db().rate("openai").set(Rate::per_minute(3_000).burst(200)).await?;
        place.db().resource("gpu").capacity(4).await?;
        schedule(&place, "nightly").await?;

        browser.goto(&place.dashboard.url("/queues")).await?;
        browser.follow("button[aria-label='Pause docs']").await?;
        assert_eq!(browser.text(".notice").await?, "It is paused until somebody resumes it.");
        assert!(take(&place, "docs").await.is_err());
        browser.picture("queues").await?;
        browser.follow("button[aria-label='Resume docs']").await?;
        assert_eq!(browser.text(".notice").await?, "It goes on.");
        settle(&place, take(&place, "docs").await?, JobVerdict::Finished(json!(1))).await?;

        browser.goto(&place.dashboard.url("/dead")).await?;
        assert!(browser.text("main").await?.contains(TEXTS[0]), "hostile texts are shown");
        is_harmless(browser, "/dead").await?;
        browser.picture("dead").await?;
        browser.follow("button[aria-label='Redrive doc-2']").await?;
        assert_eq!(browser.text(".notice").await?, "The job is in line again.");
        browser.follow("button[aria-label='Drop doc-1']").await?;
        assert_eq!(browser.text(".notice").await?, "The job is gone, with its history.");
        assert!(browser.text("main").await?.contains("There are none."));

        browser.goto(&place.dashboard.url("/schedules")).await?;
        browser.follow("button[aria-label='Pause nightly']").await?;
        browser.text("button[aria-label='Resume nightly']").await?;
        assert!(place.db().schedule("nightly").get().await?.paused_at.is_some());
        browser.follow("button[aria-label='Resume nightly']").await?;
        browser.follow("button[aria-label='Start now nightly']").await?;
        assert_eq!(browser.text(".notice").await?, "A run was started.");
        browser.picture("schedules").await?;
        assert_eq!(place.db().list(&RunQuery::default()).await?.runs.len(), 1);
        place.close().await
    })
}
