//! Arguments that mean nothing are refused, and a reader that goes away is no mistake.

use std::process::Stdio;

use pgflow::job;
use pgflow_worker_tests::{Fresh, Outcome, Working};

use crate::place::{each, json, pgflow, program};
use crate::trouble::assert_says;

#[tokio::test(flavor = "multi_thread")]
async fn what_a_list_would_ignore_is_refused() -> Outcome {
    let place = Fresh::sqlite().await?;
    for list in ["--jobs", "--flows", "--queues", "--schedules", "--workers", "--hooks"] {
        for (name, value) in [("--status", "failed"), ("--flow", "sums"), ("--since", "1h")] {
            let ran = pgflow(&place.url, &["ls", list, name, value]).await;
            assert_says(&ran, 2, "cannot be used with", list);
        }
    }
    for list in ["--flows", "--queues", "--schedules"] {
        for (name, value) in [("--after", "x"), ("--limit", "1")] {
            let ran = pgflow(&place.url, &["ls", list, name, value]).await;
            assert_says(&ran, 2, "cannot be used with", list);
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flow_is_no_queue() -> Outcome {
    for place in each().await? {
        let ran = pgflow(&place.url, &["queue", "pause", "sums"]).await;
        assert_says(&ran, 2, "`sums` is a flow, and flows are not paused", &place.url);
        assert_says(&ran, 2, "pgflow cancel --flow sums", &place.url);
        let queues = pgflow(&place.url, &["ls", "--queues"]).await;
        assert!(queues.stdout().starts_with("flow  "), "{}", queues.text());
        assert!(
            json(&place.url, &["ls", "--queues"]).await["needs"]
                .as_array()
                .expect("a list")
                .is_empty()
        );

        let ran = pgflow(&place.url, &["queue", "pause", "never"]).await;
        assert_says(&ran, 0, "warning: no job or message of `never` has been seen", &place.url);
        place.db.submit_raw("sums", serde_json::Value::Null).await?;
        let ran = pgflow(&place.url, &["queue", "pause", "sums"]).await;
        assert_says(&ran, 0, "queue sums is paused", "it is a need, too");
        assert_eq!(ran.stderr(), "");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_goes_away_is_no_mistake() -> Outcome {
    let place = &each().await?[0];
    let mut start = program(&place.url, &["start", "slow", "1"]);
    let mut child = start.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    drop(child.stdout.take());
    let ended = child.wait_with_output()?;
    assert!(ended.status.success() && ended.stderr.is_empty(), "{ended:?}");
    Ok(())
}

#[job]
mod doomed {
    #[need(max_attempts = 2, base_delay = 0)]
    pub(crate) async fn fails() -> pgflow::Result<Next> {
        Err("out of paper".into())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_has_as_many_attempts_as_it_or_its_need_says() -> Outcome {
    for place in each().await? {
        let worker = Working::start(pgflow::Worker::new(&place.db).job(doomed::Job));
        for (given, attempts) in
            [(&[][..], 2), (&["--max-attempts", "1"], 1), (&["--max-attempts", "4"], 4)]
        {
            let submit =
                ["job", "submit", "doomed.fails", "--id", &format!("j-{attempts}"), "--wait"];
            let ran = pgflow(&place.url, &[&submit, given].concat()).await;
            assert_says(&ran, 1, "out of paper", &place.url);
            let job = json(&place.url, &["job", "show", &format!("j-{attempts}")]).await;
            assert_eq!(job["attempts"], attempts, "{job}");
        }
        worker.stop().await?;
        let ran = pgflow(&place.url, &["job", "submit", "n", "--max-attempts", "0"]).await;
        assert_eq!(ran.code(), 2, "{}", ran.text());
    }
    Ok(())
}
