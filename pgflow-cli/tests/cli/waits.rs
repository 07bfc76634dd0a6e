//! Steps that wait: listed, explained and answered.

use std::time::Duration;

use pgflow::RunStatus;
use pgflow::prelude::*;
use pgflow_worker_tests::{Fresh, Outcome};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::doctor::{codes, quick_codes};
use crate::place::{Ran, change, json, pgflow};

#[flow(input = u32)]
pub(crate) mod approval {
    use super::*;

    #[step(wait_timeout = "7d")]
    pub(crate) async fn asked(hook: Hook<u32>) -> Result<Waiting<u32>> {
        Ok(hook.wait())
    }
}

/// The token of the only step that waits, once it does.
pub(crate) async fn token(place: &Fresh) -> Outcome<String> {
    loop {
        let waits = json(&place.url, &["ls", "--hooks"]).await;
        if let Some(token) = waits["waits"][0]["token"].as_str() {
            return Ok(token.to_owned());
        }
        sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_waits_is_found_explained_and_answered() -> Outcome {
    for place in [Fresh::sqlite().await?, Fresh::postgres().await?, Fresh::mysql().await?] {
        let worker = place.work(approval::Flow).await?;
        let run = place.db.start(approval::Flow, 7).await?;
        let id = run.id().to_string();
        let token = token(&place).await?;
        let waits = json(&place.url, &["ls", "--hooks", "--limit", "1"]).await;
        let first = &waits["waits"][0];
        assert_eq!((&first["run"], &first["step"]), (&json!(id), &json!("asked")));
        let next = waits["next"].as_str().expect("a full page has a next one");
        let after = json(&place.url, &["ls", "--hooks", "--after", next]).await;
        assert_eq!(after["waits"], json!([]));
        let listed = pgflow(&place.url, &["ls", "--hooks"]).await;
        assert!(listed.stdout().contains(&token), "{}", listed.text());
        let why = json(&place.url, &["why", &id]).await;
        assert_eq!(why["reasons"][0]["code"], "waiting", "{why}");
        let shown = pgflow(&place.url, &["show", &id]).await;
        assert!(shown.stdout().contains("waits for an answer"), "{}", shown.text());
        let signal = async |answer| pgflow(&place.url, &["signal", &token, answer]).await;
        let wrong = signal("\"seven\"").await;
        assert_eq!(wrong.code(), 1, "{}", wrong.text());
        assert!(wrong.stdout().starts_with("not what is waited for: "), "{}", wrong.text());
        let args = ["signal", &token, "7", "--resume-id", "mail-7"];
        let right = pgflow(&place.url, &args).await;
        assert_eq!(right.code(), 0, "{}", right.text());
        assert!(right.stdout().starts_with("delivered to step `asked`"), "{}", right.text());
        assert_eq!(run.wait().await?, RunStatus::Completed);
        let again = pgflow(&place.url, &args).await;
        let before = "it was answered with this id before\n";
        assert_eq!((again.code(), &*again.stdout()), (0, before), "{}", again.text());
        assert_eq!(signal("7").await.stdout(), "nobody waits for it\n");
        worker.stop().await?;
    }
    Ok(())
}

/// A nap, a child that waits for an answer, and a job that nobody does.
#[flow(input = u32)]
mod patience {
    use super::*;

    #[step]
    pub(crate) async fn nap(ctx: Context) -> Result<Waiting<()>> {
        Ok(ctx.sleep(Duration::from_hours(1)))
    }

    #[step]
    pub(crate) async fn child(run: u32, ctx: Context) -> Result<Waiting<approval::Output>> {
        Ok(ctx.run(approval::Flow, &run).await?.wait())
    }

    #[step]
    pub(crate) async fn review(run: u32, ctx: Context) -> Result<Waiting<u32>> {
        Ok(ctx.submit::<human::review>(&run).await?.wait())
    }
}

#[job]
mod human {
    use super::*;

    #[need("human.review")]
    pub(crate) async fn review(job: u32) -> Result<Next> {
        Ok(Next::done(job))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_that_sleep_or_wait_for_runs_and_jobs_say_so() -> Outcome {
    for place in [Fresh::sqlite().await?, Fresh::postgres().await?, Fresh::mysql().await?] {
        place.db.register(approval::Flow).await?;
        place.db.register(patience::Flow).await?;
        let worker = Worker::new(&place.db).flow(approval::Flow).flow(patience::Flow);
        let worker = pgflow_worker_tests::Working::start(worker);
        let id = place.db.start(patience::Flow, 7).await?.id().to_string();
        let mut waits = json(&place.url, &["ls", "--hooks"]).await;
        // Its own three, and the child's.
        while waits["waits"].as_array().map(Vec::len) != Some(4) {
            sleep(Duration::from_millis(50)).await;
            waits = json(&place.url, &["ls", "--hooks"]).await;
        }
        let of = |step: &str| {
            let all = waits["waits"].as_array().into_iter().flatten();
            all.clone().find(|wait| wait["step"] == step).cloned().unwrap_or_default()
        };
        let (run, job) = (of("child")["runs"][0].clone(), of("review")["jobs"][0].clone());
        let why = pgflow(&place.url, &["why", &id]).await;
        assert_eq!(why.code(), 0, "nobody is needed: {}", why.text());
        for sentence in [
            "step `nap` sleeps for 59 min more".to_owned(),
            format!("of step `child` waits for run {}", run.as_str().unwrap_or("?")),
            format!("of step `review` waits for job {}", job.as_str().unwrap_or("?")),
        ] {
            assert!(why.stdout().contains(&sentence), "no `{sentence}` in {}", why.text());
        }
        let reasons = json(&place.url, &["why", &id]).await["reasons"].clone();
        assert!(reasons.as_array().is_some_and(|all| {
            all.iter().all(|it| it["code"] == "waiting" || it["code"] == "child")
        }));
        let child = pgflow(&place.url, &["why", run.as_str().unwrap_or("?")]).await;
        assert!(child.stdout().contains("waits for an answer: for "), "{}", child.text());
        assert!(child.stdout().contains("and for 6 days more at most"), "{}", child.text());
        let listed = pgflow(&place.url, &["ls", "--hooks"]).await.stdout();
        for sign in ["its time", "1 runs", "1 jobs", "an answer to "] {
            assert!(listed.contains(sign), "no {sign} in {listed}");
        }
        worker.stop().await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_names_waits_that_nobody_ends() -> Outcome {
    for place in [Fresh::sqlite().await?, Fresh::postgres().await?, Fresh::mysql().await?] {
        let worker = place.work(approval::Flow).await?;
        place.db.start(approval::Flow, 7).await?;
        token(&place).await?;
        worker.stop().await?;
        assert_eq!(codes(&place.url).await, [""; 0], "it has time: {}", place.url);
        let elsewhere = if place.url.starts_with("mysql:") {
            "update pgflow_waits set until_at = until_at - 691200000000"
        } else {
            "update pgflow_waits set until = until - 691200000000"
        };
        let postgres = "update pgflow.waits set until = until - interval '8 days'";
        change(&place.url, elsewhere, postgres).await?;
        assert_eq!(quick_codes(&place.url).await, ["wait-late"], "{}", place.url);
        if place.url.starts_with("sqlite:") {
            // More that are older, and have all the time in the world.
            let older = "insert into pgflow_waits (run_id, step, task_index, attempt, kind, since, token, outcomes, detached, each)
                with recursive n (i) as (select 1 union all select i + 1 from n where i < 1500)
                select run_id, step, i, attempt, kind, since - 1000000, 'hook ' || i, outcomes, detached, each
                  from pgflow_waits, n";
            change(&place.url, older, "").await?;
            assert_eq!(quick_codes(&place.url).await, ["wait-late"], "they hide nothing");
        }
    }
    Ok(())
}

#[flow(input = u32)]
mod parent {
    use super::*;

    #[step]
    pub(crate) async fn ask(run: u32, ctx: Context) -> Result<Waiting<approval::Output>> {
        Ok(ctx.run(approval::Flow, &run).await?.wait())
    }
}

#[flow(input = u32)]
mod grandparent {
    use super::*;

    #[step]
    pub(crate) async fn ask(run: u32, ctx: Context) -> Result<Waiting<parent::Output>> {
        Ok(ctx.run(parent::Flow, &run).await?.wait())
    }
}

/// What `why` says of a run, once it says this too.
async fn why_it_waits(place: &Fresh, run: &str, text: &str) -> Ran {
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        let said = pgflow(&place.url, &["why", run]).await;
        if said.stdout().contains(text) {
            return said;
        }
        assert!(Instant::now() < deadline, "{}", said.text());
        sleep(Duration::from_millis(50)).await;
    }
}

/// A child of a child that no worker serves: what it waits for can be read where one looks first.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_child_waits_for_is_said() -> Outcome {
    for place in [Fresh::sqlite().await?, Fresh::postgres().await?, Fresh::mysql().await?] {
        let db = &place.db;
        db.register(approval::Flow).await?;
        db.register(parent::Flow).await?;
        let others = place.work(grandparent::Flow).await?;
        let parents = place.work(parent::Flow).await?;
        let run = db.start(grandparent::Flow, 7).await?.id().to_string();
        let said = why_it_waits(&place, &run, "no worker serves `approval`").await;
        assert_eq!(said.code(), 1, "it needs somebody: {}", said.text());
        let places =
            ["of `parent`, which step `ask` waits", "of `approval`, which step `ask` waits"];
        assert!(places.iter().all(|place| said.stdout().contains(place)), "{}", said.text());
        let shown = pgflow(&place.url, &["show", &run]).await;
        assert!(shown.stdout().contains("no worker serves `approval`"), "{}", shown.text());
        let served = place.work(approval::Flow).await?;
        let said = why_it_waits(&place, &run, "of step `asked` waits for an answer").await;
        assert_eq!(said.code(), 0, "{}", said.text());
        for worker in [others, parents, served] {
            worker.stop().await?;
        }
    }
    Ok(())
}
