//! From the graph to the error of the task that failed.

use pgflow_web::Options;
use pgflow_web_tests::{Order, Outcome, Tools, drive};

use crate::place::Place;

#[test]
fn a_click_leads_to_the_error_of_the_task_that_failed() -> Outcome {
    drive(async |browser| {
        let place = Place::new(&Tools::default(), Options::new()).await?;
        let run = place.ended(&Order::of(4).with("broken cup")).await?;
        browser.goto(&place.url(&run)).await?;
        browser.evaluate("window.same = true").await?;
        assert!(browser.text(".failure").await?.contains("cannot pack broken cup"));
        browser.click(".node.is-failed").await?;
        browser.until("document.querySelector('#detail h2')?.textContent.includes('pack')").await?;
        browser.picture("run-failed").await?;
        browser.click("#detail a[href$='only=failed']").await?;
        browser.until("document.querySelectorAll('#detail tbody tr').length === 1").await?;
        browser.click("#detail tbody a").await?;
        browser.until("document.querySelector('#detail h2').textContent.includes('[4]')").await?;
        assert_eq!(
            browser.text("#detail .error").await?,
            "cannot pack broken cup\nit is in two pieces"
        );
        assert!(
            browser.text("#detail .payload").await?.contains("broken cup"),
            "what it was given"
        );
        assert!(browser.url().await?.ends_with("?step=pack&task=4"), "it can be sent to somebody");
        assert_eq!(browser.evaluate("window.same").await?, true, "the page was not loaded again");
        place.close().await
    })
}

#[test]
fn the_keyboard_is_enough() -> Outcome {
    drive(async |browser| {
        let place = Place::new(&Tools::default(), Options::new()).await?;
        let run = place.ended(&Order::of(1)).await?;
        browser.goto(&place.url(&run)).await?;
        browser.evaluate("document.querySelector('.node').focus()").await?;
        // The second step in the order of the flow, opened and closed.
        browser.press("\u{e015}").await?;
        let second = browser.evaluate("document.activeElement.dataset.step").await?;
        browser.press("\u{e007}").await?;
        let title =
            format!("document.querySelector('#detail h2').textContent.startsWith({second})");
        browser.until(&title).await?;
        browser.press("\u{e00c}").await?;
        browser.until("document.querySelector('#detail h2').textContent === 'Run'").await?;
        browser.press("/").await?;
        assert_eq!(browser.evaluate("document.activeElement.name").await?, "q");
        place.close().await
    })
}
