//! Retrying and cancelling: when it is allowed, by a form of ours, and never otherwise.

use pgflow::RunStatus;
use pgflow_web::{Access, Options};
use pgflow_web_tests::{Browser, Dashboard, Order, Outcome, Tools, drive};

use crate::place::{Place, path};

#[test]
fn a_click_retries_what_failed() -> Outcome {
    drive(async |browser| {
        let tools = Tools::default();
        let place = Place::new(&tools, Options::new().actions(true)).await?;
        let run = place.ended(&Order::of(2).with("broken cup")).await?;
        browser.goto(&place.url(&run)).await?;
        tools.bring_glue();
        browser.follow(".when-failed button").await?;
        assert_eq!(browser.text(".notice").await?, "The run goes on from what failed.");
        browser
            .until("document.querySelector('[data-status]').dataset.status === 'completed'")
            .await?;
        assert_eq!(run.output().await?.ship, "3 boxes, Ann owes 30");
        place.close().await
    })
}

#[test]
fn a_run_is_cancelled_with_a_reason() -> Outcome {
    drive(async |browser| {
        let place = Place::new(&Tools::without_boxes(), Options::new().actions(true)).await?;
        let run = place.start(&Order::of(2)).await?;
        browser.goto(&place.url(&run)).await?;
        assert!(is_hidden(browser, ".when-failed").await?, "nothing has failed");
        browser.click(".when-started summary").await?;
        browser.type_into("input[name=reason]", "moved <away>").await?;
        browser.follow("button.danger").await?;
        assert_eq!(browser.text(".notice").await?, "The run was cancelled.");
        assert!(browser.text("main").await?.contains("moved <away>"));
        assert_eq!(run.status().await?, RunStatus::Cancelled);
        assert!(is_hidden(browser, ".when-started").await?, "it does not go on");
        place.close().await
    })
}

/// Whether nobody sees what a selector finds first.
pub(crate) async fn is_hidden(browser: &Browser, selector: &str) -> Outcome<bool> {
    let display = format!("getComputedStyle(document.querySelector('{selector}')).display");
    Ok(browser.evaluate(&display).await? == "none")
}

#[test]
fn without_actions_there_is_no_form() -> Outcome {
    drive(async |browser| {
        let place = Place::new(&Tools::default(), Options::new()).await?;
        let run = place.ended(&Order::of(1).with("broken cup")).await?;
        browser.goto(&place.url(&run)).await?;
        assert_eq!(browser.count("main form").await?, 0);
        assert!(browser.text("footer").await?.contains("read-only"));
        place.close().await
    })
}

/// Somebody takes the token out of a form of ours, or makes a form where there is none.
#[test]
fn a_browser_is_refused_without_the_token_and_while_actions_are_off() -> Outcome {
    drive(async |browser| {
        let acting = Place::new(&Tools::default(), Options::new().actions(true)).await?;
        let run = acting.ended(&Order::of(1).with("broken cup")).await?;
        browser.goto(&acting.url(&run)).await?;
        let fields = "document.querySelectorAll('input[name=token]')";
        browser.evaluate(&format!("{fields}.forEach((field) => field.remove())")).await?;
        browser.follow(".when-failed button").await?;
        assert_eq!(browser.text("h1").await?, "Forbidden");
        assert!(browser.text("main").await?.contains("form"), "it says why");
        assert_eq!(run.status().await?, RunStatus::Failed, "nothing has happened");
        // The same page, as it is: what was refused is the missing token.
        browser.goto(&acting.url(&run)).await?;
        browser.follow(".when-failed button").await?;
        assert_eq!(browser.text(".notice").await?, "The run goes on from what failed.");
        run.wait().await?;
        acting.close().await?;

        let reading = Place::new(&Tools::default(), Options::new()).await?;
        let run = reading.ended(&Order::of(1).with("broken cup")).await?;
        for action in ["retry", "cancel", "signal"] {
            browser.goto(&reading.url(&run)).await?;
            let made = format!(
                "document.querySelector('main').innerHTML = '<form method=post action=\"{}/{action}\">\
                 <input name=token value={}><input name=step value=pack><button>Go</button></form>'",
                path(&run),
                "0123456789abcdef".repeat(4)
            );
            browser.evaluate(&made).await?;
            browser.follow("main form button").await?;
            assert_eq!(browser.text("h1").await?, "Forbidden", "{action}");
        }
        assert_eq!(run.status().await?, RunStatus::Failed, "nothing has happened");
        reading.close().await
    })
}

pub(crate) const BROWSER: (&str, &str) = ("sec-fetch-site", "same-origin");

/// The cookie and the token of a page, as a browser has them.
pub(crate) async fn form(dashboard: &Dashboard, path: &str) -> Outcome<(String, String)> {
    let page = dashboard.get(path, &[]).await?;
    let cookie = page.header("set-cookie").ok_or("no cookie")?;
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap_or_default().to_owned();
    let token = page.body.split_once("name=\"token\" value=\"").ok_or("no token")?.1;
    let token = token.split('"').next().unwrap_or_default().to_owned();
    Ok((cookie, token))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_is_only_taken_from_a_page_of_ours() -> Outcome {
    let tools = Tools::default();
    let place = Place::new(&tools, Options::new().actions(true)).await?;
    let run = place.ended(&Order::of(1).with("broken cup")).await?;
    let (cookie, token) = form(&place.dashboard, &path(&run)).await?;
    let retry = format!("{}/retry", path(&run));
    let right = format!("token={token}");
    let with = ("cookie", cookie.as_str());
    for (headers, body, why) in [
        (&[with, BROWSER][..], "", "no token"),
        (&[with, BROWSER], "token=", "an empty token"),
        (
            &[with, BROWSER],
            "token=0000000000000000000000000000000000000000000000000000000000000000",
            "another token",
        ),
        (&[BROWSER], right.as_str(), "no cookie"),
        (&[with, ("sec-fetch-site", "cross-site")], &right, "from another site"),
        (&[with, ("sec-fetch-site", "same-site")], &right, "from a neighbour"),
        (&[with, ("origin", "http://evil.example")], &right, "from another origin"),
        (&[with, ("origin", "null")], &right, "from nowhere"),
    ] {
        let answer = place.dashboard.post(&retry, headers, body).await?;
        assert_eq!(answer.status, 403, "{why}: {}", answer.body);
    }
    assert_eq!(run.status().await?, RunStatus::Failed, "nothing has happened");
    tools.bring_glue();
    let answer = place.dashboard.post(&retry, &[with, BROWSER], &right).await?;
    assert_eq!(
        (answer.status, answer.header("location")),
        (303, Some(format!("{}?said=retried", path(&run)).as_str()))
    );
    assert_eq!(run.wait().await?, RunStatus::Completed);
    let again = place.dashboard.post(&retry, &[with, BROWSER], &right).await?;
    assert!(again.header("location").is_some_and(|to| to.ends_with("said=not-failed")));
    let cancel = format!("{}/cancel", path(&run));
    let late = place.dashboard.post(&cancel, &[with, BROWSER], &right).await?;
    assert!(late.header("location").is_some_and(|to| to.ends_with("said=ended")));
    let nobody = "/runs/018f3c1e-0000-7000-8000-000000000001/cancel";
    assert_eq!(place.dashboard.post(nobody, &[with, BROWSER], &right).await?.status, 404);
    assert_eq!(place.dashboard.get(&retry, &[with]).await?.status, 405, "a link does nothing");
    place.close().await
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_only_read_cannot_act() -> Outcome {
    let readers = Options::new().actions(true).auth(|headers| {
        if headers.contains_key("x-operator") { Access::Act } else { Access::Read }
    });
    for (options, headers) in [(Options::new(), &[][..]), (readers, &[])] {
        let place = Place::new(&Tools::default(), options).await?;
        let run = place.ended(&Order::of(1).with("broken cup")).await?;
        let page = place.dashboard.get(&path(&run), headers).await?;
        assert!(!page.body.contains("name=\"token\""), "no form");
        let token = "0123456789abcdef".repeat(4);
        let cookie = format!("pgflow_form={token}");
        let retry = format!("{}/retry", path(&run));
        let sent = [("cookie", cookie.as_str()), BROWSER];
        let answer = place.dashboard.post(&retry, &sent, &format!("token={token}")).await?;
        assert_eq!(answer.status, 403);
        assert_eq!(run.status().await?, RunStatus::Failed);
        place.close().await?;
    }
    Ok(())
}
