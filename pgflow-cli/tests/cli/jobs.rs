//! Jobs, as an operator meets them.

use std::time::Duration;

use pgflow::backend::{Source, WorkerCard};
use pgflow::job::{JobOutcome, JobSettings};
use pgflow_machine::WorkerId;
use pgflow_machine::job::{JobClaim, JobHold, JobRetry, JobSettle, JobVerdict};
use pgflow_worker_tests::{Fresh, Outcome};
use serde_json::{Value, json as value};

use crate::doctor::codes;
use crate::place::{change, each, json, pgflow};
use crate::why::silence;

/// A database of each kind that keeps jobs.
pub(crate) async fn each_with_jobs() -> Outcome<Vec<Fresh>> {
    let places = each().await?;
    Ok(places.into_iter().filter(|place| place.db.has_jobs()).collect())
}

/// Submits a job with the program; `options` come after the need.
async fn submit(place: &Fresh, id: &str, need: &str, options: &[&str]) -> Value {
    json(&place.url, &[&["job", "submit", need, "--id", id], options].concat()).await
}

/// A worker that serves needs, and is alive.
pub(crate) async fn sign_on(place: &Fresh, needs: &[&str], slots: u32) -> Outcome<WorkerCard> {
    let sources: Vec<_> = needs.iter().map(|need| Source::Need((*need).to_owned())).collect();
    let queues = WorkerCard::queues_of(&sources);
    let card = WorkerCard { id: WorkerId::new(), host: None, pid: 1, queues, slots };
    place.db.backend().sign_on(&card).await?;
    Ok(card)
}

pub(crate) async fn take(place: &Fresh, worker: &str, need: &str) -> Outcome<JobHold> {
    let (needs, lease) = (vec![need.to_owned()], Duration::from_mins(1));
    let claim = JobClaim { worker: worker.to_owned(), needs, lease, max: 1 };
    let claimed = place.db.backend().jobs()?.claim_jobs(&claim).await?;
    Ok(claimed.jobs.first().ok_or("a job")?.taken.hold.clone())
}

pub(crate) async fn settle(place: &Fresh, hold: JobHold, verdict: JobVerdict) -> Outcome {
    let settles = [JobSettle::new(hold, verdict)];
    place.db.backend().jobs()?.settle_jobs(&settles, "worker").await?;
    Ok(())
}

pub(crate) fn failed(retry: JobRetry) -> JobVerdict {
    JobVerdict::Failed { error: "no answer\u{1b}[31m".to_owned(), retry }
}

/// As if the leases of all jobs were over.
async fn lapse(place: &Fresh) -> Outcome {
    let elsewhere = "update pgflow_job_leases set until = 1";
    let postgres = "update pgflow.jobs set lease_until = now() - interval '1 minute', \
                    look_at = now() - interval '1 minute' where token is not null";
    change(&place.url, elsewhere, postgres).await?;
    place.db.backend().jobs()?.sweep_jobs().await?;
    Ok(())
}

async fn reasons(place: &Fresh, job: &str) -> Vec<String> {
    let why = json(&place.url, &["why", job]).await;
    let reasons = why["reasons"].as_array().expect("reasons").iter();
    reasons.map(|reason| reason["code"].as_str().expect("a code").to_owned()).collect()
}

/// What `why` says, and whether somebody is needed.
async fn says(place: &Fresh, job: &str, code: i32, sentence: &str) {
    let why = pgflow(&place.url, &["why", job]).await;
    assert_eq!(why.code(), code, "{}", why.text());
    assert!(why.stdout().contains(sentence), "no `{sentence}` in {}", why.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_submitted_listed_shown_cancelled_and_redriven() -> Outcome {
    for place in each_with_jobs().await? {
        let url = &*place.url;
        let made =
            submit(&place, "inv-42", "invoice.ingest", &["{\"file\": 7}", "--key", "ann"]).await;
        assert_eq!(made, value!({ "job": "inv-42", "need": "invoice.ingest", "is_new": true }));
        let again = submit(&place, "inv-42", "invoice.ingest", &[]).await;
        assert_eq!(again["is_new"], false, "a name is used once");
        let after = ["--after", "inv-42", "--priority", "-3", "--expires-in", "7d"];
        submit(&place, "report", "report.send", &after).await;
        let listed = json(url, &["ls", "--jobs"]).await;
        assert_eq!(
            (&listed["jobs"][0]["id"], &listed["jobs"][0]["status"]),
            (&value!("report"), &value!("PENDING_JOBS"))
        );
        assert_eq!(listed["jobs"][1]["key"], "ann");
        let page = json(url, &["job", "ls", "--limit", "1"]).await;
        let next = page["next"].as_str().expect("there is more").to_owned();
        let rest = json(url, &["job", "ls", "--limit", "1", "--after", &next]).await;
        assert_eq!(rest["jobs"][0]["id"], "inv-42");
        let waiting = json(url, &["job", "ls", "--status", "waiting"]).await;
        assert_eq!(waiting["jobs"].as_array().map(Vec::len), Some(1));
        let text = pgflow(url, &["job", "ls", "--need", "invoice.ingest"]).await;
        assert!(text.stdout().contains("inv-42  invoice.ingest  READY"), "{}", text.text());

        let shown = json(url, &["show", "inv-", "--input", "--output", "--events"]).await;
        assert_eq!((&shown["input"], &shown["output"]), (&value!({ "file": 7 }), &Value::Null));
        assert_eq!(shown["events"][0]["kind"], "submitted");
        assert_eq!(shown["events"][0]["by"], "pgflow job submit");
        let shown = json(url, &["job", "show", "report"]).await;
        assert_eq!(
            shown["waits_for"],
            value!([{ "kind": "job", "name": "inv-42", "policy": "release" }])
        );

        let hold = take(&place, "worker", "invoice.ingest").await?;
        settle(&place, hold, failed(JobRetry::Never)).await?;
        let text = pgflow(url, &["show", "inv-42", "--events"]).await;
        assert!(
            text.stdout().contains("no answer␛[31m") && !text.stdout().contains('\u{1b}'),
            "{}",
            text.text()
        );
        let dry = json(url, &["job", "redrive", "--where", "no answer", "--dry-run"]).await;
        assert_eq!(
            dry,
            value!({ "dry_run": true, "jobs": [{ "job": "inv-42", "need": "invoice.ingest", "outcome": "would_redrive", "text": "would redrive" }] })
        );
        let none = pgflow(url, &["job", "redrive", "--where", "other", "--yes"]).await;
        assert!(none.code() == 0 && none.stdout().contains("no such jobs"), "{}", none.text());
        let redriven = pgflow(url, &["job", "redrive", "inv-42"]).await;
        assert!(
            redriven.code() == 0 && redriven.stdout().contains("goes on"),
            "{}",
            redriven.text()
        );
        let live = pgflow(url, &["job", "redrive", "inv-42"]).await;
        assert!(live.code() == 1 && live.stdout().contains("has not ended"), "{}", live.text());

        let asked = pgflow(url, &["job", "cancel", "--all"]).await;
        assert!(
            asked.code() == 2 && asked.stderr().contains("cancel 2 jobs? say so with --yes"),
            "{}",
            asked.text()
        );
        let all = pgflow(url, &["job", "cancel", "--all", "--yes", "--reason", "moved"]).await;
        assert_eq!(all.code(), 0, "{}", all.text());
        says(&place, "inv-42", 0, " ago: moved").await;
        let ended = json(url, &["job", "ls", "--status", "ended"]).await;
        assert_eq!(ended["jobs"].as_array().map(Vec::len), Some(2), "{ended}");
        let late = pgflow(url, &["job", "cancel", "inv-42"]).await;
        assert!(late.code() == 1 && late.stdout().contains("had ended before"), "{}", late.text());

        let pruned = json(url, &["prune", "--older-than", "0s", "--dry-run"]).await;
        assert_eq!(pruned, value!({ "runs": 0, "jobs": 2, "dry_run": true }));
        assert_eq!(json(url, &["prune", "--older-than", "0s", "--yes"]).await["jobs"], 2);
        let gone = pgflow(url, &["why", "inv-42"]).await;
        assert!(
            gone.code() == 1 && gone.stderr().contains("there is no job inv-42"),
            "{}",
            gone.text()
        );
    }
    Ok(())
}

/// What is tried says what would come of it, of any job that is named.
#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_of_named_jobs_says_what_would_come_of_it() -> Outcome {
    for place in each_with_jobs().await? {
        let url = &*place.url;
        submit(&place, "open", "n", &[]).await;
        submit(&place, "over", "n", &[]).await;
        json(url, &["job", "cancel", "over"]).await;
        let mut named = vec![
            (["job", "cancel", "over"], "had ended before: it is cancelled"),
            (["job", "clear", "open"], "nothing is wrong with it"),
            (["job", "clear", "over"], "is not live"),
            (["job", "redrive", "open"], "has not ended"),
        ];
        if place.db.backend().pipelines().is_ok() {
            named.push((["dead", "drop", "open"], "is not dead: it is READY"));
            named.push((["dead", "drop", "over"], "is not dead: it is cancelled"));
        }
        for (command, said) in named {
            let dry = pgflow(url, &[&command[..], &["--dry-run"]].concat()).await;
            let real = pgflow(url, &command).await;
            assert_eq!((dry.code(), dry.stdout()), (1, real.stdout()), "{command:?}");
            assert!(dry.stdout().contains(said), "{}", dry.text());
        }
        // Whoever cancelled a job may change his mind.
        let dry = pgflow(url, &["job", "redrive", "over", "--dry-run"]).await;
        let real = pgflow(url, &["job", "redrive", "over"]).await;
        assert_eq!(dry.code(), real.code(), "{} {}", dry.text(), real.text());
        let dry = pgflow(url, &["job", "cancel", "open", "--dry-run"]).await;
        assert!(dry.code() == 0 && dry.stdout().contains("would cancel"), "{}", dry.text());
    }
    Ok(())
}

/// Many are changed in batches, and what was done is said also if a later batch fails.
#[tokio::test(flavor = "multi_thread")]
async fn many_jobs_are_redriven_in_batches() -> Outcome {
    let place = Fresh::sqlite().await?;
    let (url, jobs) = (&*place.url, place.db.backend().jobs()?);
    for n in 0..=500 {
        place.db.submit_raw("n", Value::Null).id(format!("dead-{n}")).await?;
    }
    let (needs, lease) = (vec!["n".to_owned()], Duration::from_mins(1));
    let claim = JobClaim { worker: "worker".to_owned(), needs, lease, max: 501 };
    let taken = jobs.claim_jobs(&claim).await?.jobs.into_iter();
    let settles: Vec<_> =
        taken.map(|job| JobSettle::new(job.taken.hold.clone(), failed(JobRetry::Never))).collect();
    jobs.settle_jobs(&settles, "worker").await?;
    let full = "create trigger no_room before insert on pgflow_jobs when new.id = 'dead-500'
        begin select raise(abort, 'there is no room'); end";
    change(url, full, "").await?;
    let redriven = pgflow(url, &["dead", "redrive", "--all", "--yes", "--json"]).await;
    assert!(
        redriven.code() != 0 && redriven.stderr().contains("there is no room"),
        "{}",
        redriven.text()
    );
    let done = redriven.json();
    let outcomes = done["jobs"].as_array().expect("jobs");
    assert_eq!(outcomes.len(), 500, "{done}");
    assert_eq!(
        (&outcomes[0]["job"], &outcomes[0]["outcome"]),
        (&value!("dead-0"), &value!("redriven"))
    );
    let left = json(url, &["dead", "ls"]).await;
    assert_eq!(left["jobs"].as_array().map(Vec::len), Some(1), "{left}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_is_waited_for() -> Outcome {
    for place in each_with_jobs().await? {
        let url = place.url.clone();
        let waiting = tokio::spawn(async move {
            pgflow(&url, &["job", "submit", "page.scan", "7", "--id", "page-7", "--wait", "--json"])
                .await
        });
        let end = tokio::time::Instant::now() + Duration::from_mins(1);
        let hold = loop {
            match take(&place, "worker", "page.scan").await {
                Ok(hold) => break hold,
                Err(error) => assert!(tokio::time::Instant::now() < end, "{error}"),
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        settle(&place, hold, JobVerdict::Finished(value!({ "pages": 3 }))).await?;
        let done = waiting.await?;
        assert_eq!(done.code(), 0, "{}", done.text());
        assert_eq!(
            done.json(),
            value!({ "job": "page-7", "status": "done", "output": { "pages": 3 } })
        );
        let late = pgflow(
            &place.url,
            &["job", "submit", "page.scan", "--id", "page-8", "--wait", "--timeout", "0s"],
        )
        .await;
        assert!(
            late.code() == 1 && late.stderr().contains("goes on after that time"),
            "{}",
            late.text()
        );
        place.db.job(&"page-8".parse()?).cancel("no").await?;
        let ended =
            pgflow(&place.url, &["job", "submit", "page.scan", "--id", "page-8", "--wait"]).await;
        assert!(
            ended.code() == 1 && ended.stdout().contains("ended as cancelled"),
            "{}",
            ended.text()
        );
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn each_reason_of_a_job_is_named() -> Outcome {
    for place in each_with_jobs().await? {
        submit(&place, "a", "n", &["--key", "k"]).await;
        submit(&place, "b", "n", &["--key", "k"]).await;
        says(&place, "a", 1, "no worker serves `n` (0 workers are alive)").await;
        assert_eq!(reasons(&place, "a").await, ["no-worker"]);
        says(&place, "b", 0, "job `a` is before it in the line of key `k`").await;
        let card = sign_on(&place, &["n", "m,o"], 1).await?;
        assert_eq!(reasons(&place, "a").await, ["ready"]);
        let worker = card.id.0.to_string();
        let a = take(&place, &worker, "n").await?;
        assert_eq!(reasons(&place, "a").await, ["running"]);
        says(&place, "b", 0, &format!("key `k` is held by job `a` (worker {worker})")).await;
        submit(&place, "c", "m,o", &[]).await;
        assert_eq!(reasons(&place, "c").await, ["busy"], "a need may have a comma in its name");

        settle(&place, a, failed(JobRetry::After(Duration::from_mins(10)))).await?;
        assert_eq!(reasons(&place, "a").await, ["backoff"]);
        says(&place, "a", 0, "it failed once and is tried again in").await;
        submit(&place, "later", "n", &["--delay", "1h"]).await;
        says(&place, "later", 0, "it sleeps for 59 min more").await;
        submit(&place, "after", "n", &["--after", "a", "--after", "later"]).await;
        says(
            &place,
            "after",
            0,
            "it waits for job `a` (AWAITING_FUTURE), job `later` (AWAITING_FUTURE)",
        )
        .await;
        submit(&place, "both", "n", &["--after", "a", "--delay", "1h"]).await;
        assert_eq!(reasons(&place, "both").await, ["delayed", "dependencies"]);
        submit(&place, "late", "z", &["--expires-in", "1s"]).await;
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        assert_eq!(reasons(&place, "late").await, ["expired"]);

        let b = take(&place, &worker, "n").await?;
        silence(&place.url).await?;
        assert_eq!(reasons(&place, "b").await, ["lost-worker"]);
        place.db.job(&b.job).cancel("moved").await?;
        assert_eq!(reasons(&place, "b").await, ["cancelled", "lost-worker"]);
        settle(&place, b, JobVerdict::Finished(Value::Null)).await?;
        assert_eq!(place.db.job(&"b".parse()?).wait().await?, JobOutcome::Done);
        says(&place, "b", 0, "the job ended as done").await;
        submit(&place, "d", "n", &[]).await;
        let d = take(&place, "worker", "n").await?;
        settle(&place, d, failed(JobRetry::Never)).await?;
        says(&place, "d", 1, "the job ended as failed").await;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_ends_its_workers_is_named_and_cleared() -> Outcome {
    for place in each_with_jobs().await? {
        let url = &*place.url;
        place.db.set_job_settings(JobSettings { trace: true, crash_threshold: 1 }).await?;
        submit(&place, "bad", "n", &[]).await;
        take(&place, "worker", "n").await?;
        lapse(&place).await?;
        assert_eq!(reasons(&place, "bad").await, ["no-worker", "crashes"]);
        take(&place, "worker", "n").await?;
        lapse(&place).await?;
        assert_eq!(reasons(&place, "bad").await, ["concern"]);
        says(&place, "bad", 1, "it lost 2 workers in a row, more than the 1 that are allowed")
            .await;
        assert_eq!(codes(url).await, ["crash-concern"]);
        submit(&place, "waits", "later", &["--after", "bad"]).await;
        let doctor = pgflow(url, &["doctor"]).await;
        assert!(doctor.stdout().contains("1 jobs wait for them: `waits`"), "{}", doctor.text());
        place.db.job(&"waits".parse()?).cancel("enough").await?;
        let listed = json(url, &["job", "ls", "--status", "concern"]).await;
        assert_eq!(listed["jobs"][0]["id"], "bad");
        let dry = json(url, &["job", "clear", "--all", "--dry-run"]).await;
        assert_eq!(dry["jobs"][0]["outcome"], "would_clear");
        let cleared = pgflow(url, &["job", "clear", "bad"]).await;
        assert!(cleared.code() == 0 && cleared.stdout().contains("goes on"), "{}", cleared.text());
        assert_eq!(codes(url).await, [""; 0]);
        let again = pgflow(url, &["job", "clear", "bad"]).await;
        assert!(
            again.code() == 1 && again.stdout().contains("nothing is wrong"),
            "{}",
            again.text()
        );
        take(&place, "worker", "n").await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_that_wait_for_each_other_are_named() -> Outcome {
    for place in each_with_jobs().await? {
        for id in ["one", "two", "three"] {
            submit(&place, id, "n", &[]).await;
        }
        change(
            &place.url,
            "insert into pgflow_job_edges (kind, dependency, waiter, policy) values
               ('job', 'one', 'two', 'release'), ('job', 'two', 'three', 'release'), ('job', 'three', 'one', 'release');
             update pgflow_jobs set state = 'waiting', waits = 1",
            "insert into pgflow.job_edges (waiter, place, kind, dependency, policy) values
               ('two', 1, 'job', 'one', 'release'), ('three', 1, 'job', 'two', 'release'), ('one', 1, 'job', 'three', 'release');
             update pgflow.jobs set state = 'waiting', waits = 1",
        )
        .await?;
        says(&place, "one", 1, "it waits for itself, through `three`, `two`").await;
        assert_eq!(reasons(&place, "one").await, ["ring"]);
        let found = codes(&place.url).await;
        assert!(!found.is_empty() && found.iter().all(|code| code == "ring"), "{found:?}");
        assert_eq!(pgflow(&place.url, &["job", "cancel", "two"]).await.code(), 0, "the fix");
        assert_eq!(codes(&place.url).await, [""; 0], "fixes it");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn needs_that_nobody_serves_are_named() -> Outcome {
    for place in each_with_jobs().await? {
        let url = &*place.url;
        submit(&place, "a", "gpu.render", &[]).await;
        assert_eq!(codes(url).await, [""; 0], "a moment is no time");
        age(&place, "60").await?;
        assert_eq!(codes(url).await, ["no-worker"]);
        let external = json(url, &["doctor", "--external", "gpu.render"]).await;
        assert!(!external.to_string().contains("gpu.render"), "{external}");
        let queues = json(url, &["ls", "--queues"]).await;
        assert_eq!(
            (&queues["needs"][0]["need"], &queues["needs"][0]["ready"]),
            (&value!("gpu.render"), &value!(1))
        );
        sign_on(&place, &["gpu.render"], 1).await?;
        assert_eq!(codes(url).await, [""; 0], "it is served");
        let workers = json(url, &["ls", "--workers"]).await;
        assert_eq!(workers["workers"][0]["needs"], value!(["gpu.render"]));
        age(&place, "600").await?;
        assert_eq!(codes(url).await, ["late"]);
    }
    Ok(())
}

/// As if all jobs had been there for so many seconds longer.
pub(crate) async fn age(place: &Fresh, seconds: &str) -> Outcome {
    age_at(&place.url, seconds).await
}

pub(crate) async fn age_at(url: &str, seconds: &str) -> Outcome {
    let (elsewhere, postgres) = match seconds {
        "60" => (
            "update pgflow_jobs set created_at = created_at - 60000000; update pgflow_job_trace set at = at - 60000000",
            "update pgflow.jobs set created_at = created_at - interval '1 minute'; \
             update pgflow.job_trace set at = at - interval '1 minute'",
        ),
        _ => (
            "update pgflow_jobs set created_at = created_at - 600000000; update pgflow_job_trace set at = at - 600000000",
            "update pgflow.jobs set created_at = created_at - interval '10 minutes'; \
             update pgflow.job_trace set at = at - interval '10 minutes'",
        ),
    };
    change(url, elsewhere, postgres).await
}

#[tokio::test(flavor = "multi_thread")]
async fn misuse_of_jobs_is_told_apart() -> Outcome {
    let place = Fresh::sqlite().await?;
    for id in ["twin-a", "twin-b"] {
        submit(&place, id, "n", &[]).await;
    }
    for (arguments, code, sentence) in [
        (&["job", "ls", "--status", "lost"][..], 2, "a job is live, ready"),
        (&["job", "ls", "--after", "x"], 2, "not what a page of jobs ended with"),
        (&["job", "cancel"], 2, "which jobs?"),
        (&["job", "cancel", "twin-a", "--need", "n"], 2, "not both"),
        (&["job", "show", "twin"], 2, "job twin-a, job twin-b"),
        (&["why", "twin"], 2, "job twin-a, job twin-b"),
        (&["job", "show", ""], 2, "cannot be the id of a job"),
        (&["job", "submit", "n", "{"], 2, "the input is not JSON"),
        (&["job", "submit", "n", "--id", ""], 2, "cannot be the id of a job"),
        (&["job", "submit", ""], 2, "need"),
        (&["job", "submit", "n", "--after", "nothing"], 1, "there is no job nothing"),
        (&["job", "show", "nothing"], 1, "there is no job nothing"),
    ] {
        let ran = pgflow(&place.url, arguments).await;
        assert_eq!(ran.code(), code, "{arguments:?}: {}", ran.text());
        assert!(ran.stderr().contains(sentence), "{arguments:?}: {}", ran.text());
    }
    Ok(())
}
