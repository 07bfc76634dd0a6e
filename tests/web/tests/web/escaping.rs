//! Hostile texts are shown, and nothing else.

use pgflow::backend::{Source, WorkerCard};
use pgflow::pipeline::Rate;
use pgflow_machine::WorkerId;
use pgflow_machine::job::check_name;
use pgflow_web::Options;
use pgflow_web_tests::hostile::{TEXTS, visible_part};
use pgflow_web_tests::{Browser, Order, Outcome, Tools, drive, orders};
use serde_json::json;

use crate::place::Place;

/// Nothing ran, nothing asks, nothing was put into the page, and it is still there to be seen.
pub(crate) async fn is_harmless(browser: &Browser, at: &str) -> Outcome {
    assert_eq!(browser.alert().await, None, "{at}");
    assert_eq!(browser.evaluate("typeof window.pwned").await?, "undefined", "{at}");
    let intruders = "document.querySelectorAll('script:not([src]), iframe, img, style, base, object, template, \
                     main a[href^=javascript], [onerror], [onload], [ontoggle], [onfocus], meta[http-equiv]').length";
    assert_eq!(browser.evaluate(intruders).await?, 0, "{at}");
    assert_eq!(browser.evaluate("document.scripts.length").await?, 1, "{at}");
    let shown =
        "getComputedStyle(document.body).display !== 'none' && document.title.endsWith('· pgflow')";
    assert_eq!(browser.evaluate(shown).await?, true, "{at}");
    Ok(())
}

#[test]
fn hostile_texts_are_shown_and_not_run() -> Outcome {
    drive(async |browser| {
        let tools = Tools::default();
        let place = Place::new(&tools, Options::new().actions(true)).await?;
        // Each is what a run is given, and one of its items; the last step repeats the name, and `broken` fails.
        let lines = TEXTS.iter().map(|text| (*text).to_owned()).collect();
        let order = Order { customer: TEXTS.concat(), lines, is_gift: true };
        let done = place.ended(&order).await?;
        let failing = order.with(format!("broken {}", TEXTS.concat()));
        let failed = place.ended(&failing).await?;
        let cancelled = place.start(&failing).await?;
        cancelled.cancel(TEXTS.concat().as_str()).await?;
        for run in [&done, &failed, &cancelled] {
            for rest in ["", "?step=check", "?step=pack", "?step=wrap", "?step=ship"] {
                let url = format!("{}{rest}", place.url(run));
                browser.goto(&url).await?;
                is_harmless(browser, &url).await?;
            }
        }
        for (index, text) in TEXTS.iter().enumerate() {
            let url = format!("{}?step=pack&task={index}", place.url(&done));
            browser.goto(&url).await?;
            is_harmless(browser, &url).await?;
            let shown = browser.text("#detail").await?;
            let part = visible_part(text).replace('"', "\\\"");
            assert!(shown.contains(&part), "{part} is not in {shown}");
        }
        browser.goto(&format!("{}?step=pack", place.url(&failed))).await?;
        browser.picture("hostile").await?;
        let failure = browser.text("#detail .error").await?;
        assert!(failure.contains("<script>window.pwned=1</script>"), "{failure}");
        let page = browser.text("main").await?;
        assert!(page.contains("␛[31m") && page.contains("⟨U+202E⟩") && page.contains("⟨U+009B⟩"));
        place.close().await
    })
}

#[test]
fn hostile_texts_are_not_run_by_live_updates_either() -> Outcome {
    drive(async |browser| {
        let tools = Tools::without_boxes();
        let place = Place::new(&tools, Options::new()).await?;
        let run = place.start(&Order::of(1).with(format!("broken {}", TEXTS.concat()))).await?;
        browser.goto(&place.url(&run)).await?;
        browser
            .until(
                "document.querySelector('.node[data-step=pack]').classList.contains('is-running')",
            )
            .await?;
        tools.boxes.add_permits(100);
        browser
            .until("document.querySelector('[data-status]').dataset.status === 'failed'")
            .await?;
        assert!(browser.text(".failure").await?.contains("<script>window.pwned=1</script>"));
        is_harmless(browser, "live").await?;
        place.close().await
    })
}

#[test]
fn hostile_searches_and_addresses_are_texts_too() -> Outcome {
    drive(async |browser| {
        let place = Place::new(&Tools::default(), Options::new()).await?;
        for text in TEXTS {
            let encoded: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
            for path in
                ["/runs?q=", "/runs?flow=", "/runs?status=", "/runs?after=", "/runs/", "/flows/"]
            {
                let url = place.dashboard.url(&format!("{path}{}", encoded.replace('+', "%20")));
                browser.goto(&url).await?;
                assert_eq!(browser.alert().await, None, "{url}");
                assert_eq!(browser.evaluate("typeof window.pwned").await?, "undefined", "{url}");
            }
        }
        place.close().await
    })
}

/// Names that somebody chose: of schedules, queues, rates, resources, hooks, hosts and jobs, and what a step says.
#[test]
fn hostile_names_are_texts_too() -> Outcome {
    drive(async |browser| {
        let place = Place::new(&Tools::default(), Options::new().actions(true)).await?;
        let db = place.db();
        // Those that are short enough.
        let names: Vec<_> = TEXTS.iter().filter(|text| check_name(text).is_ok()).collect();
        assert!(names.len() > 20, "{names:?}");
        for name in &names {
            db.schedule(name).flow(orders::Flow, &Order::of(1)).cron("0 3 * * *").await?;
            db.rate(name).set(Rate::per_hour(1)).await?;
            db.resource(name).capacity(1).await?;
            db.queue(name).pause().await?;
            db.submit_raw(name, json!(1)).id(**name).key(**name).await?;
            let card = WorkerCard {
                id: WorkerId::new(),
                host: Some((**name).to_owned()),
                pid: 7,
                queues: WorkerCard::queues_of(&[Source::Need((**name).to_owned())]),
                slots: 1,
            };
            db.backend().sign_on(&card).await?;
        }
        for path in ["/schedules", "/queues", "/workers", "/jobs", "/", "/dead", "/waits"] {
            browser.goto(&place.dashboard.url(path)).await?;
            is_harmless(browser, path).await?;
        }
        for (path, selector) in [("/schedules", "main"), ("/queues", "main"), ("/workers", "main")]
        {
            browser.goto(&place.dashboard.url(path)).await?;
            let shown = browser.text(selector).await?;
            for name in &names {
                let part = visible_part(name);
                assert!(shown.contains(&part), "{part} is not on {path}: {shown}");
            }
        }
        // A button of one of them is about that one.
        browser.goto(&place.dashboard.url("/schedules")).await?;
        let chosen = "javascript:window.pwned=17//";
        browser.follow(&format!("button[aria-label='Pause {chosen}']")).await?;
        is_harmless(browser, "after a click").await?;
        let all = db.schedules().await?;
        let paused: Vec<_> = all.iter().filter(|it| it.paused_at.is_some()).collect();
        assert!(paused.len() == 1 && paused[0].name == chosen, "{paused:?}");
        place.close().await
    })
}
