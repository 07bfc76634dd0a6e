//! What tasks wait for, on the dashboard, and signals by a form.

use pgflow_web::Options;
use pgflow_web_tests::{Dashboard, Outcome, drive};
use pgflow_worker_tests::{Fresh, everywhere};

use crate::actions::{BROWSER, form};
use crate::hooks::Desk;

everywhere!(a_wait_is_shown_and_signalled_by_a_form);

async fn a_wait_is_shown_and_signalled_by_a_form(fresh: Fresh) -> Outcome {
    let desk = Desk::new(&fresh).await?;
    let reading = Dashboard::start(&fresh.db, Options::new()).await?;
    let run = format!("/runs/{}", desk.run.id());
    let step = format!("{run}?step=approval");
    for path in ["/waits", &run, &step] {
        let page = reading.get(path, &[]).await?.body;
        assert!(page.contains("a signal"), "{path}: {page}");
        assert!(!page.contains(desk.token()), "{path} has a token: {page}");
        assert!(!page.contains("<button>Signal"), "{path}: {page}");
    }
    let page = reading.get(&run, &[]).await?.body;
    assert!(page.contains("is-waiting") && !page.contains("is-queued"), "{page}");
    let wrong = reading.get("/waits?after=odd", &[]).await?;
    assert_eq!(wrong.status, 400, "{}", wrong.body);
    reading.stop().await?;

    let acting = Dashboard::start(&fresh.db, Options::new().actions(true)).await?;
    let (cookie, token) = form(&acting, &run).await?;
    let send = async |token: &str, payload: &str| {
        let sent = format!("token={token}&step=approval&index=0&payload={payload}");
        acting.post(&format!("{run}/signal"), &[BROWSER, ("cookie", &cookie)], &sent).await
    };
    let yes = "%7B%22by%22%3A%22Ann%22%2C%22is_approved%22%3Atrue%7D";
    assert_eq!(send("", yes).await?.status, 403, "it is not from a page of ours");
    assert_eq!(send(&token, "yes").await?.status, 400, "it is no JSON");
    let refused = send(&token, "7").await?;
    assert!(refused.status == 400 && refused.body.contains("not what is waited for"));
    let done = send(&token, yes).await?;
    assert_eq!(done.header("location"), Some(&*format!("{run}?said=signalled")));
    desk.run.wait().await?;
    assert!(
        send(&token, yes).await?.header("location").is_some_and(|to| to.ends_with("not-waiting"))
    );
    assert!(acting.get("/waits", &[]).await?.body.contains("There are none."));
    acting.stop().await?;
    desk.close().await
}

#[test]
fn a_step_that_waits_is_answered_by_click() -> Outcome {
    drive(async |browser| {
        let fresh = Fresh::postgres().await?;
        let desk = Desk::new(&fresh).await?;
        let acting = Dashboard::start(&fresh.db, Options::new().actions(true)).await?;
        browser.goto(&acting.url(&format!("/runs/{}", desk.run.id()))).await?;
        let payload = "form[action$='/signal'] input[name=payload]";
        browser.click("details:has(form[action$='/signal']) summary").await?;
        browser.evaluate(&format!("document.querySelector(`{payload}`).value = ''")).await?;
        browser.type_into(payload, r#"{"by":"Ann","is_approved":true}"#).await?;
        browser.picture("signal").await?;
        browser.follow("form[action$='/signal'] button").await?;
        assert_eq!(browser.text(".notice").await?, "The step goes on with what it was told.");
        browser
            .until("document.querySelector('[data-status]').dataset.status === 'completed'")
            .await?;
        acting.stop().await?;
        desk.close().await
    })
}
