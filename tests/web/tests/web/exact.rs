//! What a form is about is what it was made for, whatever its name looks like; and what cannot be read gets a page.

use pgflow_web::Options;
use pgflow_web_tests::{Order, Outcome, Tools, drive, orders};
use pgflow_worker_tests::{Fresh, everywhere};
use serde_json::json;

use crate::place::{Place, path};

everywhere!(nul_is_a_text_as_any_other, what_cannot_be_read_gets_a_page_of_ours);

/// A name, one that looks like it, and one with an end of a line, which browsers send as two characters.
const NAMES: [&str; 3] = ["a\u{200b}b", "a⟨U+200B⟩b", "a\nb"];

/// The form of what has this name, of those on a page.
fn form(verb: &str, name: &str) -> String {
    let encoded: String = url::form_urlencoded::byte_serialize(name.as_bytes()).collect();
    let value = encoded.replace('+', "%20").replace('*', "%2A");
    format!("form[action$='/{verb}']:has(input[value='{value}']) button")
}

#[test]
fn a_button_is_about_what_it_was_made_for() -> Outcome {
    drive(async |browser| {
        let place = Place::new(&Tools::default(), Options::new().actions(true)).await?;
        let db = place.db();
        for name in NAMES {
            db.submit_raw(name, json!(1)).id(name).key(name).await?;
            db.schedule(name).flow(orders::Flow, &Order::of(1)).cron("0 3 * * *").await?;
        }
        for name in NAMES {
            browser.goto(&place.dashboard.url("/queues")).await?;
            browser.follow(&form("pause", name)).await?;
            let paused = db.paused_queues().await?;
            let paused: Vec<_> = paused.iter().map(|it| &*it.need).collect();
            assert_eq!(paused, [name], "by its button");
            browser.follow(&form("resume", name)).await?;
            assert_eq!(db.paused_queues().await?, [], "{name:?}");

            browser.goto(&place.dashboard.url("/schedules")).await?;
            browser.follow(&form("pause", name)).await?;
            let all = db.schedules().await?;
            let paused = all.iter().filter(|it| it.paused_at.is_some());
            assert_eq!(paused.map(|it| &*it.name).collect::<Vec<_>>(), [name]);
            db.schedule(name).resume().await?;
        }
        for name in NAMES {
            let id: String = url::form_urlencoded::byte_serialize(name.as_bytes()).collect();
            browser.goto(&place.dashboard.url(&format!("/job?id={id}"))).await?;
            browser.click(".when-started summary").await?;
            browser.follow("button.danger").await?;
            assert_eq!(browser.text(".notice").await?, "The job was cancelled.");
            assert_eq!(db.job(&name.parse()?).status().await?.to_string(), "cancelled");
        }
        place.close().await
    })
}

/// Somebody changes one field of a filter, and sends the others as they are.
#[test]
fn a_filter_is_about_what_it_was_made_for() -> Outcome {
    drive(async |browser| {
        let place = Place::new(&Tools::default(), Options::new()).await?;
        for name in NAMES {
            place.db().submit_raw(name, json!(1)).id(name).key(name).await?;
        }
        for name in NAMES {
            let encoded: String = url::form_urlencoded::byte_serialize(name.as_bytes()).collect();
            let url = place.dashboard.url(&format!("/jobs?need={encoded}&key={encoded}"));
            browser.goto(&url).await?;
            for _ in 0..2 {
                assert_eq!(browser.count("a.id").await?, 1, "{name:?}");
                browser.follow("form.filter button").await?;
            }
            // Another one is another one.
            browser.type_into("input[name=need]", "x").await?;
            browser.follow("form.filter button").await?;
            assert_eq!(browser.count("a.id").await?, 0, "{name:?}");
        }
        place.close().await
    })
}

/// Every address that takes a text, and every form.
async fn nul_is_a_text_as_any_other(fresh: Fresh) -> Outcome {
    let place = Place::on(fresh, &Tools::default(), Options::new().actions(true)).await?;
    let run = path(&place.ended(&Order::of(1)).await?);
    let id = run.trim_start_matches("/runs/").to_owned();
    let page = place.dashboard.get("/queues", &[]).await?;
    let cookie = page.header("set-cookie").ok_or("a cookie")?;
    let cookie = cookie.split(';').next().unwrap_or_default().to_owned();
    let token = cookie.split('=').nth(1).ok_or("a token")?.to_owned();
    for address in [
        "/runs?flow=%00",
        "/runs?q=%00",
        "/runs?flow=%00&q=%00",
        "/runs?status=%00",
        "/runs?after=%00",
        &format!("/runs?after=0_{id}%00"),
        "/runs/%00",
        &format!("{run}?step=%00"),
        &format!("{run}?step=pack&only=%00"),
        "/jobs?need=%00&key=%00",
        "/jobs?q=%00",
        "/jobs?need_is=%2500",
        "/jobs?after=%00",
        "/job?id=%00",
        "/dead?need=%00",
        "/dead?after=%00",
        &format!("/waits?after=0_{id}_0_%00"),
        "/waits?after=%00",
        "/flows/%00",
        "/workers?after=%00",
        "/queues?said=%00",
        "/live/runs/%00",
        "/live/job?id=%00",
        "/live/runs/%00?seen=%00",
        &format!("{run}/steps/%00/stream"),
        "/runs/%00/events",
        "/%00",
    ] {
        let answer = place.dashboard.get(address, &[]).await?;
        assert!(answer.status < 500, "{address}: {} {}", answer.status, answer.body);
    }
    for action in [
        &format!("{run}/retry"),
        &format!("{run}/cancel"),
        &format!("{run}/signal"),
        "/job/cancel",
        "/job/redrive",
        "/job/clear",
        "/queues/pause",
        "/queues/resume",
        "/dead/redrive",
        "/dead/drop",
        "/schedules/pause",
        "/schedules/resume",
        "/schedules/fire",
        "/schedules/%00",
    ] {
        for text in ["%00", "%2500"] {
            let form = format!(
                "token={token}&name={text}&id={text}&step={text}&reason={text}&payload=null"
            );
            let answer = place.dashboard.post(action, &[("cookie", &cookie)], &form).await?;
            let (status, body) = (answer.status, &answer.body);
            assert!(status < 500 && status != 403, "{action} {text}: {status} {body}");
        }
    }
    place.close().await
}

async fn what_cannot_be_read_gets_a_page_of_ours(fresh: Fresh) -> Outcome {
    let place = Place::on(fresh, &Tools::default(), Options::new().actions(true)).await?;
    let run = path(&place.ended(&Order::of(1)).await?);
    for address in [
        format!("{run}?step=pack&task=x"),
        format!("{run}?step=pack&task=-1"),
        format!("{run}?step=pack&after=x"),
        format!("{run}?said=x"),
        "/flows/orders?version=x".to_owned(),
        "/flows/%FF".to_owned(),
        "/runs?flow=a&flow=b".to_owned(),
        "/jobs?need=a&need=b".to_owned(),
        "/jobs?need_is=%25zz".to_owned(),
        "/workers?gone=x".to_owned(),
        "/queues?said=x".to_owned(),
        "/live/job?id=a&id=b".to_owned(),
        "/live/runs/%FF".to_owned(),
    ] {
        let answer = place.dashboard.get(&address, &[]).await?;
        assert_eq!(answer.status, 400, "{address}: {}", answer.body);
        let is_ours = answer.body.contains("<title>Bad Request · pgflow</title>");
        assert!(is_ours && answer.body.contains("style"), "{address}: {}", answer.body);
    }
    for form in ["name=a&name=b", "name=%25zz"] {
        let answer = place.dashboard.post("/queues/pause", &[], form).await?;
        let is_ours = answer.body.contains("<title>Bad Request · pgflow</title>");
        assert!(answer.status == 400 && is_ours, "{form}: {} {}", answer.status, answer.body);
    }
    for address in ["/runs/%FF/events", &format!("{run}/steps/%FF/stream")] {
        let answer = place.dashboard.get(address, &[]).await?;
        assert!(answer.status == 404 && answer.body.starts_with('{'), "{address}: {}", answer.body);
    }
    place.close().await
}
