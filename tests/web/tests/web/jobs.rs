//! Jobs on the dashboard: lists, one job live, actions.

use std::time::Duration;

use pgflow::backend::JobStanding;
use pgflow::client::JobHandle;
use pgflow::job::{JobOutcome, JobSettings};
use pgflow_machine::job::{JobClaim, JobHold, JobRetry, JobSettle, JobVerdict};
use pgflow_web::{Options, PayloadKind};
use pgflow_web_tests::hostile::TEXTS;
use pgflow_web_tests::{Outcome, Tools, drive};
use pgflow_worker_tests::{Fresh, everywhere};
use serde_json::json;
use sqlx::{Connection as _, SqliteConnection};

use crate::actions::{BROWSER, form, is_hidden};
use crate::escaping::is_harmless;
use crate::place::Place;

everywhere!(jobs_are_listed_found_and_shown, forms_of_jobs_are_only_taken_from_a_page_of_ours);

/// A text in an address.
fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

fn path(job: &JobHandle) -> String {
    format!("/job?id={}", encoded(job.id().as_str()))
}

pub(crate) async fn take(place: &Place, need: &str) -> Outcome<JobHold> {
    let (needs, lease) = (vec![need.to_owned()], Duration::from_mins(1));
    let claim = JobClaim { worker: "worker-7".to_owned(), needs, lease, max: 1 };
    let claimed = place.db().backend().jobs()?.claim_jobs(&claim).await?;
    Ok(claimed.jobs.first().ok_or("a job")?.taken.hold.clone())
}

pub(crate) async fn settle(place: &Place, hold: JobHold, verdict: JobVerdict) -> Outcome {
    let settles = [JobSettle::new(hold, verdict)];
    place.db().backend().jobs()?.settle_jobs(&settles, "worker-7").await?;
    Ok(())
}

pub(crate) fn failed(error: &str) -> JobVerdict {
    JobVerdict::Failed { error: error.to_owned(), retry: JobRetry::Never }
}

async fn jobs_are_listed_found_and_shown(fresh: Fresh) -> Outcome {
    let place = Place::on(fresh, &Tools::default(), Options::new()).await?;
    if !place.db().has_jobs() {
        let page = place.dashboard.get("/jobs", &[]).await?;
        assert!(page.status == 200 && page.body.contains("keeps no jobs yet"), "{}", page.body);
        return place.close().await;
    }
    let submit = |id: &str| place.db().submit_raw("invoice.ingest", json!({ "secret": id })).id(id);
    let first = submit("inv-1").key("ann").await?;
    for number in 2..=60 {
        submit(&format!("inv-{number}")).await?;
    }
    // What is no part of a path.
    let odd = submit("../a b?c=1&d").await?;
    let waiting = submit("waits").after([&first]).await?;
    for (path, sign) in [
        ("/jobs", "waits"),
        ("/jobs?status=waiting", "PENDING_JOBS"),
        ("/jobs?key=ann", "inv-1</a>"),
        ("/jobs?need=nothing", "There are none."),
        ("/jobs?status=ended", "There are none."),
        ("/jobs?q=inv-1", ""),
        ("/jobs?q=inv-", "inv-10</a>"),
        ("/jobs?q=none", "No job has a name that begins like this."),
        ("/", "invoice.ingest"),
        (&path(&odd), "../a b?c=1&amp;d"),
        (&path(&waiting), "it waits for job `inv-1` (READY)"),
        (&path(&first), "no worker serves `invoice.ingest`"),
        ("/metrics", "pgflow_jobs{need=\"invoice.ingest\",state=\"ready\"} 61"),
        ("/metrics", "pgflow_jobs{need=\"invoice.ingest\",state=\"waiting\"} 1"),
    ] {
        let page = place.dashboard.get(path, &[]).await?;
        assert!(
            matches!(page.status, 200 | 303) && page.body.contains(sign),
            "{path}: {}",
            page.body
        );
    }
    for (path, only) in [("/jobs?status=waiting", "waits"), ("/jobs?key=ann", "inv-1")] {
        let page = place.dashboard.get(path, &[]).await?.body;
        assert!(page.contains(&format!(">{only}</a>")), "{path}: {page}");
        assert!(!page.contains(">inv-60</a>"), "{path} has others, too: {page}");
    }
    let found = place.dashboard.get("/runs?q=inv-60", &[]).await?;
    assert_eq!(found.header("location"), Some("/job?id=inv-60"), "the search finds jobs too");
    let page = place.dashboard.get("/jobs", &[]).await?;
    let older = page.body.split("rel=\"next\" href=\"").nth(1).ok_or("there is more")?;
    let older = older.split('"').next().unwrap_or_default().replace("&amp;", "&");
    let page = place.dashboard.get(&older, &[]).await?;
    assert!(
        page.body.contains(">inv-1</a>") && !page.body.contains(">inv-60</a>"),
        "{}",
        page.body
    );
    for (path, status, sentence) in [
        ("/job?id=none", 404, "there is no job `none`"),
        ("/job", 404, "cannot be the id of a job"),
        ("/live/job?id=none", 404, "there is no job `none`"),
        ("/jobs?status=odd", 400, "there is no status `odd`"),
        ("/jobs?after=odd", 400, "`odd` is not the end of a page of jobs"),
    ] {
        let answer = place.dashboard.get(path, &[]).await?;
        assert!(
            answer.status == status && answer.body.contains(sentence),
            "{path}: {}",
            answer.body
        );
    }
    place.close().await
}

async fn forms_of_jobs_are_only_taken_from_a_page_of_ours(fresh: Fresh) -> Outcome {
    let place = Place::on(fresh, &Tools::default(), Options::new().actions(true)).await?;
    if !place.db().has_jobs() {
        return place.close().await;
    }
    let job = place.db().submit_raw("n", json!(1)).id("a&b").await?;
    let (cookie, token) = form(&place.dashboard, &path(&job)).await?;
    let with = ("cookie", cookie.as_str());
    let right = format!("token={token}&id=a%26b");
    for what in ["cancel", "redrive", "clear"] {
        for (headers, body) in [
            (&[with, BROWSER][..], "id=a%26b"),
            (&[BROWSER], &*right),
            (&[with, ("sec-fetch-site", "cross-site")], &*right),
        ] {
            let answer = place.dashboard.post(&format!("/job/{what}"), headers, body).await?;
            assert_eq!(answer.status, 403, "{what}: {}", answer.body);
        }
    }
    assert!(matches!(job.status().await?, JobStanding::Live(_)), "nothing has happened");
    let act = async |what: &str, said: &str| -> Outcome {
        let (path, headers) = (format!("/job/{what}"), [with, BROWSER]);
        let answer = place.dashboard.post(&path, &headers, &right).await?;
        let to = format!("/job?id=a%26b&said={said}");
        assert_eq!(answer.header("location"), Some(&*to), "{what}");
        Ok(())
    };
    act("redrive", "not-failed").await?;
    act("clear", "no-concern").await?;
    place.db().set_job_settings(JobSettings { trace: true, crash_threshold: 1 }).await?;
    settle(&place, take(&place, "n").await?, failed("no")).await?;
    act("redrive", "redriven").await?;
    let held = take(&place, "n").await?;
    act("cancel", "asked").await?;
    settle(&place, held, JobVerdict::Finished(json!(2))).await?;
    assert_eq!(job.wait().await?, JobOutcome::Done);
    act("cancel", "ended").await?;
    let nobody = format!("token={token}&id=nobody");
    let answer = place.dashboard.post("/job/cancel", &[with, BROWSER], &nobody).await?;
    assert_eq!(answer.status, 404, "{}", answer.body);
    place.close().await
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_only_read_cannot_act_on_jobs() -> Outcome {
    let place = Place::on(Fresh::sqlite().await?, &Tools::default(), Options::new()).await?;
    let job = place.db().submit_raw("n", json!(1)).id("a").await?;
    let page = place.dashboard.get(&path(&job), &[]).await?;
    assert!(!page.body.contains("name=\"token\""), "no form");
    let token = "0123456789abcdef".repeat(4);
    let cookie = format!("pgflow_form={token}");
    let sent = [("cookie", cookie.as_str()), BROWSER];
    let answer = place.dashboard.post("/job/cancel", &sent, &format!("token={token}&id=a")).await?;
    assert_eq!(answer.status, 403);
    assert!(matches!(job.status().await?, JobStanding::Live(_)));
    place.close().await
}

#[tokio::test(flavor = "multi_thread")]
async fn payloads_and_errors_of_jobs_can_be_masked() -> Outcome {
    let options = Options::new().redact(|payload| {
        assert_eq!(payload.need, Some("n"));
        payload.value = match payload.kind {
            PayloadKind::Error => "see the logs".into(),
            _ => "masked".into(),
        };
    });
    let place = Place::on(Fresh::sqlite().await?, &Tools::default(), options).await?;
    let done = place.db().submit_raw("n", json!("topsecret")).id("a").await?;
    settle(&place, take(&place, "n").await?, JobVerdict::Finished(json!("topsecret"))).await?;
    let bad = place.db().submit_raw("n", json!("topsecret")).id("b").await?;
    settle(&place, take(&place, "n").await?, failed("topsecret")).await?;
    for path in [path(&done), path(&bad), "/jobs?status=ended".to_owned()] {
        let page = place.dashboard.get(&path, &[]).await?;
        assert!(!page.body.contains("topsecret"), "{path}: {}", page.body);
        assert!(page.body.contains("masked") || page.body.contains("see the logs"), "{path}");
    }
    place.close().await
}

/// However long it is.
#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_trace_is_shown() -> Outcome {
    let place = Place::on(Fresh::sqlite().await?, &Tools::default(), Options::new()).await?;
    let job = place.db().submit_raw("n", json!(1)).id("a").await?;
    let file = place.fresh.url.strip_prefix("sqlite:").expect("a file");
    let grown = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 10500)
        insert into pgflow_job_trace (job, at, kind, by) select 'a', 1, 'released', 'worker no. ' || i from n";
    sqlx::raw_sql(grown).execute(&mut SqliteConnection::connect(file).await?).await?;
    let page = place.dashboard.get(&path(&job), &[]).await?.body;
    assert!(page.contains("worker no. 10500") && page.contains("worker no. 10301"), "{page}");
    assert!(!page.contains("worker no. 10300<"), "{page}");
    assert!(page.contains("The last 200 lines"), "{page}");
    place.close().await
}

#[test]
fn a_job_is_watched_redriven_and_cancelled() -> Outcome {
    drive(async |browser| {
        let options = Options::new().actions(true);
        let place = Place::on(Fresh::sqlite().await?, &Tools::default(), options).await?;
        let job = place.db().submit_raw("page.scan", json!({ "page": 7 })).id("page-7").await?;
        browser.goto(&place.dashboard.url("/jobs")).await?;
        browser.follow("td a.id").await?;
        for form in [".when-failed", ".when-concern"] {
            assert!(is_hidden(browser, form).await?, "{form} makes no sense here");
        }
        assert!(browser.text("main").await?.contains("no worker serves `page.scan`"));
        assert!(browser.text("#detail").await?.contains("\"page\": 7"));
        let status = |status: &str| {
            format!("document.querySelector('[data-status]').dataset.status === '{status}'")
        };
        let hold = take(&place, "page.scan").await?;
        browser.until("document.querySelector('main').innerText.includes('worker-7')").await?;
        settle(&place, hold, failed(TEXTS[0])).await?;
        browser.until(&status("failed")).await?;
        browser.until("document.querySelector('#detail .error') !== null").await?;
        assert!(browser.text("#detail .error").await?.contains(TEXTS[0]));
        is_harmless(browser, "a failed job").await?;
        browser.picture("job").await?;
        browser.follow(".when-failed button").await?;
        assert_eq!(browser.text(".notice").await?, "The job is in line again.");
        browser.click(".when-started summary").await?;
        browser.type_into("input[name=reason]", "moved <away>").await?;
        browser.follow("button.danger").await?;
        assert_eq!(browser.text(".notice").await?, "The job was cancelled.");
        assert!(browser.text("main").await?.contains("moved <away>"));
        assert_eq!(job.wait().await?, JobOutcome::Cancelled);
        place.close().await
    })
}

#[test]
fn hostile_names_of_jobs_are_shown_and_not_run() -> Outcome {
    drive(async |browser| {
        let place = Place::on(Fresh::sqlite().await?, &Tools::default(), Options::new()).await?;
        for text in TEXTS.iter().filter(|text| text.len() <= 100) {
            let job =
                place.db().submit_raw(text, json!({ *text: text })).id(text).key(*text).await?;
            browser.goto(&place.dashboard.url(&path(&job).replace('+', "%20"))).await?;
            is_harmless(browser, text).await?;
            let search = encoded(text).replace('+', "%20");
            for parameter in ["need", "key", "status", "q", "after"] {
                let url = place.dashboard.url(&format!("/jobs?{parameter}={search}"));
                browser.goto(&url).await?;
                assert_eq!(browser.alert().await, None, "{url}");
                assert_eq!(browser.evaluate("typeof window.pwned").await?, "undefined", "{url}");
            }
        }
        browser.goto(&place.dashboard.url("/jobs")).await?;
        is_harmless(browser, "/jobs").await?;
        browser.picture("jobs").await?;
        place.close().await
    })
}
