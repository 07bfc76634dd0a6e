//! New jobs.

use super::*;
use crate::PayloadError;

#[test]
fn a_name_is_used_once() {
    let mut bench = Bench::new();
    let twice = [job("a", "n"), job("a", "n")];
    let answers = bench.try_submit(&twice);
    assert_eq!(answers, [Ok(Submitted::Submitted), Ok(Submitted::Exists)]);
    let hold = bench.take("a");
    bench.finish(&hold);
    assert_eq!(bench.try_submit(&twice[..1]), [Ok(Submitted::Exists)], "also of the archive");
}

#[test]
fn bad_input_changes_nothing_and_keeps_nobody_out() {
    let mut bench = Bench::new();
    let long = "x".repeat(129);
    let bad = [
        NewJob { need: String::new(), ..job("a", "n") },
        NewJob { need: long.clone(), ..job("b", "n") },
        NewJob { key: Some("k\0".into()), ..job("c", "n") },
        NewJob { max_attempts: Some(0), ..job("d", "n") },
        NewJob { payload: json!("\0"), ..job("e", "n") },
        after("f", "n", [on("f")]),
        after("g", "n", [on("nowhere")]),
        after("h", "n", [Wait::run(RunId::from_key("f", "k"))]),
        job("fine", "n"),
    ];
    let answers = bench.try_submit(&bad);
    let problem = |at: usize| answers[at].clone().unwrap_err();
    assert_eq!(problem(0), JobProblem::Name { what: "need", why: "is empty" });
    assert_eq!(problem(1), JobProblem::Name { what: "need", why: "has more than 128 bytes" });
    assert_eq!(problem(2), JobProblem::Name { what: "key", why: "contains the character NUL" });
    assert_eq!(problem(3), JobProblem::NoAttempts);
    let source = PayloadError::Nul { path: "$".into() };
    assert_eq!(problem(4), JobProblem::Payload { what: "the job's payload", source });
    assert_eq!(problem(5), JobProblem::WaitsForItself);
    assert_eq!(problem(6), JobProblem::UnknownDependency(Dependency::Job(id("nowhere"))));
    assert!(matches!(problem(7), JobProblem::UnknownDependency(Dependency::Run(_))));
    assert_eq!(answers[8], Ok(Submitted::Submitted));
    assert_eq!(bench.jobs.len(), 1);
    assert!(long.parse::<JobId>().is_err());
}

#[test]
fn a_job_begins_where_it_says() {
    let mut bench = Bench::new();
    let jobs = [
        job("ready", "n"),
        NewJob { wake: Some(Moment::In(MINUTE)), ..job("later", "n") },
        NewJob { wake: Some(Moment::At(NOW)), ..job("now", "n") },
        NewJob { expires: Some(Moment::At(NOW)), ..job("over", "n") },
        after("waits", "n", [on("ready")]),
        NewJob { wake: Some(Moment::In(MINUTE)), ..after("both", "n", [on("ready")]) },
    ];
    bench.submit(&jobs);
    let states = ["ready", "later", "now", "over", "waits", "both"]
        .map(|name| (bench.state(name).word(), bench.status(name).word()));
    let expected = [
        ("ready", "READY"),
        ("sleeping", "AWAITING_FUTURE"),
        ("ready", "READY"),
        ("expired", "EXPIRED"),
        ("waiting", "PENDING_JOBS"),
        ("waiting", "AWAITING_FUTURE"),
    ];
    assert_eq!(states, expected);
    let hold = bench.take("ready");
    bench.finish(&hold);
    assert_eq!(bench.state("both"), JobState::Sleeping, "it waits no more, and sleeps");
}

#[test]
fn a_trace_can_be_switched_off() {
    let mut bench = Bench::new();
    bench.settings.trace = false;
    bench.submit(&[job("a", "n")]);
    assert_eq!(bench.trace, []);
}
