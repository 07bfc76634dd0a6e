//! How attempts end: every state, every token, every verdict.

use super::*;

/// What a settle can meet.
const STANDINGS: &[&str] = &[
    "ready",
    "sleeping",
    "waiting",
    "parked",
    "leased",
    "leased and cancelled",
    "lapsed",
    "claimed again",
    "failed before",
    "archived",
    "nowhere",
];

/// A job `a` in this standing, and the hold that its worker has or had.
fn standing(of: &str) -> (Bench, JobHold) {
    let mut bench = Bench::new();
    let never = JobHold { job: id("a"), token: JobToken::new() };
    let other = job("other", "other");
    match of {
        "nowhere" => return (bench, never),
        "ready" => bench.submit(&[job("a", "n")]),
        "sleeping" => {
            bench.submit(&[NewJob { wake: Some(Moment::In(MINUTE)), ..job("a", "n") }]);
        }
        "waiting" => bench.submit(&[other, after("a", "n", [on("other")])]),
        "parked" => bench.submit(&[keyed("b", "n", "k"), keyed("a", "n", "k")]),
        _ => {
            bench.submit(&[NewJob { max_attempts: Some(3), ..keyed("a", "n", "k") }]);
            let hold = bench.take("a");
            match of {
                "leased and cancelled" => assert_eq!(bench.cancel("a"), JobCancelled::Asked),
                "lapsed" => bench.pass(MINUTE * 2),
                "claimed again" => {
                    bench.pass(MINUTE * 2);
                    bench.take("a");
                }
                "failed before" => drop(bench.settle(&hold, failed(JobRetry::After(MINUTE)))),
                "archived" => bench.finish(&hold),
                _ => {}
            }
            return (bench, hold);
        }
    }
    (bench, never)
}

fn verdicts() -> [JobVerdict; 5] {
    let after = JobRetry::After(Duration::ZERO);
    [done(), failed(after), failed(JobRetry::Never), hand_over("m", []), JobVerdict::Released]
}

fn expected(of: &str, is_finish: bool) -> JobSettled {
    match of {
        "leased" | "lapsed" => JobSettled::Applied,
        "leased and cancelled" if is_finish => JobSettled::Applied,
        "leased and cancelled" => JobSettled::Cancelled,
        "failed before" | "archived" => JobSettled::AlreadySettled,
        "nowhere" => JobSettled::Unknown,
        _ => JobSettled::Fenced,
    }
}

#[test]
fn every_standing_meets_every_verdict() {
    for of in STANDINGS {
        for (at, verdict) in verdicts().into_iter().enumerate() {
            let (mut bench, hold) = standing(of);
            let before = (bench.jobs.clone(), bench.archive.clone(), bench.trace.len());
            let outcome = bench.settle(&hold, verdict.clone());
            assert_eq!(outcome, expected(of, at == 0), "{of}: {verdict:?}");
            let is_news = matches!(outcome, JobSettled::Applied | JobSettled::Cancelled);
            if !is_news {
                let after = (bench.jobs.clone(), bench.archive.clone(), bench.trace.len());
                assert_eq!(after, before, "{of}: {verdict:?}");
                continue;
            }
            // The answer may have been lost.
            assert_eq!(bench.settle(&hold, verdict), JobSettled::AlreadySettled, "{of}");
        }
    }
}

#[test]
fn another_token_opens_nothing() {
    for of in STANDINGS {
        for token in ["", "null", "00000000-0000-0000-0000-000000000000"] {
            let (mut bench, _) = standing(of);
            let before = (bench.jobs.clone(), bench.archive.clone());
            let hold = JobHold { job: id("a"), token: JobToken(token.into()) };
            for verdict in verdicts() {
                let outcome = bench.settle(&hold, verdict);
                assert!(matches!(outcome, JobSettled::Fenced | JobSettled::Unknown), "{outcome:?}");
            }
            assert_eq!((bench.jobs.clone(), bench.archive.clone()), before, "{of}");
        }
    }
}

#[test]
fn what_ends_says_how() {
    let ends = [(done(), JobOutcome::Done), (failed(JobRetry::Never), JobOutcome::Failed)];
    for (verdict, outcome) in ends {
        let (mut bench, hold) = standing("leased");
        bench.settle(&hold, verdict);
        assert_eq!(bench.outcome("a"), Some(outcome));
        assert_eq!(bench.keys.len(), 0);
    }
    let (mut bench, hold) = standing("leased");
    bench.settle(&hold, done());
    assert_eq!(bench.outputs["a"], json!("out"));
    assert_eq!(bench.kinds("a"), ["submitted", "claimed", "finished"]);
    let (mut bench, hold) = standing("leased and cancelled");
    bench.settle(&hold, JobVerdict::Released);
    assert_eq!(bench.outcome("a"), Some(JobOutcome::Cancelled));
    assert_eq!(bench.kinds("a"), ["submitted", "claimed", "cancel_asked", "cancelled"]);
    let by = bench.archive["a"].row.cancel.as_ref().map(|asked| asked.by.as_str());
    assert_eq!(by, Some("me"));
}

#[test]
fn failures_are_counted_until_attempts_are_used_up() {
    let mut bench = Bench::new();
    bench.submit(&[NewJob { max_attempts: Some(2), ..job("a", "n") }]);
    let hold = bench.take("a");
    assert_eq!(bench.settle(&hold, failed(JobRetry::After(MINUTE))), JobSettled::Applied);
    assert_eq!((bench.jobs["a"].failures, bench.errors["a"].as_str()), (1, "no"));
    assert_eq!(bench.status("a"), JobStatus::AwaitingFuture);
    bench.pass(MINUTE);
    let hold = bench.take("a");
    bench.settle(&hold, failed(JobRetry::After(MINUTE)));
    assert_eq!(bench.outcome("a"), Some(JobOutcome::Failed));
    assert_eq!(bench.archive["a"].row.failures, 2);
    assert_eq!(bench.kinds("a"), ["submitted", "claimed", "failed", "claimed", "failed"]);
}

#[test]
fn what_is_released_counts_nothing() {
    let mut bench = Bench::new();
    bench.submit(&[NewJob { max_attempts: Some(1), ..job("a", "n") }]);
    for _ in 0..5 {
        let hold = bench.take("a");
        assert_eq!(bench.settle(&hold, JobVerdict::Released), JobSettled::Applied);
    }
    let row = &bench.jobs["a"];
    assert_eq!((row.attempts, row.failures, row.lapses, row.state), (0, 0, 0, JobState::Ready));
}

#[test]
fn a_hand_over_keeps_place_key_and_expiry_and_has_a_new_budget() {
    let mut bench = Bench::new();
    let first = NewJob {
        max_attempts: Some(1),
        expires: Some(Moment::In(MINUTE * 60)),
        ..keyed("a", "n", "k")
    };
    bench.submit(&[first, job("b", "m")]);
    let before = bench.jobs["a"].clone();
    let hold = bench.take("a");
    let to = HandOver {
        payload: Some(json!(7)),
        max_attempts: Some(2),
        wake: Some(Moment::In(Duration::ZERO)),
        ..HandOver::to("m")
    };
    assert_eq!(bench.settle(&hold, JobVerdict::HandedOver(to)), JobSettled::Applied);
    let row = bench.jobs["a"].clone();
    assert_eq!((row.seq, &row.key, row.expires_at), (before.seq, &before.key, before.expires_at));
    assert_eq!((row.need.as_str(), row.state, row.max_attempts), ("m", JobState::Ready, Some(2)));
    assert_eq!(bench.payloads["a"], json!(7));
    assert_eq!(bench.names(&["m"], 1), ["a"], "it keeps its place before b");
    let hold =
        JobHold { job: id("a"), token: bench.jobs["a"].lease.clone().expect("a lease").token };
    bench.settle(&hold, failed(JobRetry::After(Duration::ZERO)));
    assert_eq!(bench.state("a"), JobState::Ready, "one of two attempts is left");
}

#[test]
fn a_hand_over_that_cannot_be_leaves_the_lease() {
    let bad = [
        hand_over("", []),
        hand_over("m", [on("a")]),
        hand_over("m", [on("nowhere")]),
        JobVerdict::HandedOver(HandOver { payload: Some(json!("\0")), ..HandOver::to("m") }),
        JobVerdict::HandedOver(HandOver { max_attempts: Some(0), ..HandOver::to("m") }),
        JobVerdict::Finished(json!(["\0"])),
    ];
    for verdict in bad {
        let (mut bench, hold) = standing("leased");
        let before = bench.jobs.clone();
        assert!(matches!(bench.settle(&hold, verdict), JobSettled::Refused(_)));
        assert_eq!(bench.jobs, before);
        bench.finish(&hold);
    }
}

#[test]
fn a_batch_settles_in_its_order() {
    let (mut bench, hold) = standing("leased");
    let settle = |verdict| JobSettle::new(hold.clone(), verdict);
    let both = [settle(JobVerdict::Released), settle(done())];
    assert_eq!(bench.settle_all(&both), [JobSettled::Applied, JobSettled::AlreadySettled]);
    assert_eq!(bench.state("a"), JobState::Ready);
}

fn forks(hold: &JobHold, verdict: JobVerdict, submits: Vec<NewJob>) -> JobSettle {
    JobSettle { hold: hold.clone(), verdict, submits }
}

/// A parent that waits for all of its children, or for the last of a chain of them. If each were compared with each, this would take
/// minutes.
#[test]
fn forks_are_looked_at_once() {
    let name = |n: usize| format!("child-{n}");
    for (number, is_chain) in [(10_000, false), (3_000, true)] {
        let mut bench = Bench::new();
        bench.submit(&[job("parent", "n")]);
        let hold = bench.take("parent");
        let before = |n: usize| (is_chain && n > 0).then(|| on(&name(n - 1)));
        let children = (0..number).map(|n| after(&name(n), "child", before(n))).collect();
        let verdict = hand_over("join", (0..number).map(|n| on(&name(n))));
        let settle = forks(&hold, verdict, children);
        let settles = [settle];
        let command = SettleJobs { settles: &settles, by: "w", limits: Limits::default() };
        let mut rows = JobRows::new(bench.settings);
        let mut needs = rows.missing(command.needs());
        while !needs.is_empty() {
            bench.load(&needs, &mut rows);
            needs = rows.missing(command.more(&rows));
        }
        let (outcomes, writes) = command.decide(&mut rows, bench.now).expect("a decision");
        assert_eq!(outcomes, [JobSettled::Applied]);
        assert_eq!(writes.inserted.len(), number);
        assert_eq!(rows.jobs[&id("parent")].waits as usize, number);
    }
}

#[test]
fn forked_jobs_come_with_the_settle_that_may_wait_for_them() {
    let (mut bench, hold) = standing("leased");
    let children = || vec![keyed("c1", "child", "k"), after("c2", "child", [on("c1")])];
    let settle = forks(&hold, hand_over("m", [on("c1"), on("c2")]), children());
    assert_eq!(bench.settle_all(std::slice::from_ref(&settle)), [JobSettled::Applied]);
    assert_eq!((bench.jobs["a"].waits, bench.status("c2")), (2, JobStatus::PendingJobs));
    assert_eq!(bench.settle_all(&[settle]), [JobSettled::AlreadySettled], "forked once");
    for name in ["c1", "c2"] {
        let child = bench.take(name);
        bench.finish(&child);
    }
    assert_eq!(bench.state("a"), JobState::Ready);
}

#[test]
fn forks_that_cannot_be_leave_everything() {
    let bad = [
        (vec![job("c", "")], hand_over("m", [])),
        (vec![job("c", "n"), after("d", "n", [on("nowhere")])], done()),
        (vec![after("c", "n", [on("c")])], done()),
        (vec![job("c", "n")], hand_over("m", [on("c"), on("nowhere")])),
        (vec![job("c", "n")], hand_over("", [on("c")])),
        (vec![job("c", "n")], JobVerdict::Finished(json!("\0"))),
        (vec![after("c", "n", [on("a")])], hand_over("m", [on("c")])),
    ];
    for (submits, verdict) in bad {
        let (mut bench, hold) = standing("leased");
        let before = (bench.jobs.clone(), bench.trace.len());
        let outcome = bench.settle_all(&[forks(&hold, verdict, submits)]).remove(0);
        assert!(matches!(outcome, JobSettled::Refused(_)), "{outcome:?}");
        assert_eq!((bench.jobs.clone(), bench.trace.len()), before);
    }
}

#[test]
fn who_does_not_hold_it_forks_nothing() {
    for of in ["ready", "claimed again", "archived", "leased and cancelled", "nowhere"] {
        let (mut bench, hold) = standing(of);
        bench.settle_all(&[forks(&hold, JobVerdict::Released, vec![job("c", "n")])]);
        assert!(!bench.jobs.contains_key("c"), "{of}");
    }
}

#[test]
fn a_step_of_sql_begins_only_with_a_lease_that_holds() {
    for of in STANDINGS {
        let (mut bench, hold) = standing(of);
        let holds = bench.run(&HoldsJob { hold: &hold });
        assert_eq!(holds, matches!(*of, "leased" | "lapsed"), "{of}");
    }
}
