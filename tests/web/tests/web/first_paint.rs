//! Reading works without JavaScript.

use pgflow_web::Options;
use pgflow_web_tests::{Order, Outcome, Tools, drive, orders};
use serde_json::json;

use crate::hooks::Desk;
use crate::jobs::{self, settle, take};
use crate::place::Place;

#[test]
fn everything_can_be_read_without_javascript() -> Outcome {
    drive(async |browser| {
        let place = Place::new(&Tools::default(), Options::new()).await?;
        let done = place.ended(&Order::of(3)).await?;
        let failed = place.ended(&Order::of(2).with("broken cup")).await?;
        browser.scripts(false).await?;

        browser.goto(&place.dashboard.url("/")).await?;
        assert_eq!(browser.text("h1").await?, "Overview");
        assert!(browser.text(".card:nth-child(1)").await?.contains('2'), "two runs were started");
        assert_eq!(browser.count("svg.spark").await?, 3);

        browser.follow("nav a[href$='/runs']").await?;
        assert_eq!(browser.count("tbody tr").await?, 2);
        browser.goto(&place.dashboard.url("/runs?status=failed")).await?;
        assert_eq!(browser.text("td a.id").await?, failed.id().to_string());

        browser.follow("td a.id").await?;
        assert_eq!(browser.count("svg.graph .node").await?, 7);
        assert_eq!(browser.count(".node.is-failed").await?, 1);
        browser.follow(".node.is-failed").await?;
        assert!(browser.text("#detail .error").await?.contains("it is in two pieces"));

        browser.goto(&place.url(&done)).await?;
        assert_eq!(browser.count(".node.is-completed").await?, 6);
        assert_eq!(browser.count(".node.is-skipped").await?, 1);
        assert!(browser.text("#detail").await?.contains("3 boxes, Ann owes 30"));

        browser.goto(&place.dashboard.url("/flows/orders")).await?;
        assert_eq!(browser.count("svg.graph .node").await?, 7);
        assert!(browser.text("#step-pack").await?.contains("50.0 %"), "one of two failed");
        browser.goto(&place.dashboard.url("/workers")).await?;
        assert!(browser.text("tbody tr").await?.contains("alive"));

        place.db().submit_raw("mail", json!("Dear Ann")).id("letter").await?;
        place.db().submit_raw("docs", json!(1)).id("doc-1").await?;
        settle(&place, take(&place, "docs").await?, jobs::failed("no answer")).await?;
        let nightly = place.db().schedule("nightly").flow(orders::Flow, &Order::of(1));
        nightly.cron("0 3 * * *").await?;
        let desk = Desk::new(&place.fresh).await?;
        for (path, sign) in [
            ("/jobs", "letter"),
            ("/job?id=letter", "Dear Ann"),
            ("/job?id=letter", "no worker serves `mail`"),
            ("/queues", "mail"),
            ("/dead", "no answer"),
            ("/waits", "a signal"),
            ("/schedules", "0 3 * * *"),
            ("/flows", "orders"),
        ] {
            browser.goto(&place.dashboard.url(path)).await?;
            let shown = browser.text("main").await?;
            assert!(shown.contains(sign), "no {sign} on {path}: {shown}");
            assert!(browser.text("nav").await?.contains("Schedules"), "{path}");
        }
        desk.run.cancel(None).await?;
        place.close().await
    })
}

#[test]
fn a_run_is_found_by_its_id_and_by_its_key() -> Outcome {
    drive(async |browser| {
        let place = Place::new(&Tools::default(), Options::new()).await?;
        let run =
            place.db().start(pgflow_web_tests::orders::Flow, &Order::of(1)).key("order 7").await?;
        let id = run.id().to_string();
        for text in ["order 7\n".to_owned(), format!("{id}\n"), format!("{}\n", &id[..8])] {
            browser.goto(&place.dashboard.url("/")).await?;
            browser.type_into(".find input", &text).await?;
            browser.until(&format!("location.pathname === '/runs/{}'", run.id())).await?;
        }
        browser.goto(&place.dashboard.url("/runs?q=order+8")).await?;
        assert_eq!(
            browser.text(".notice").await?,
            "No run has this id or key, and no job this name."
        );
        place.close().await
    })
}
