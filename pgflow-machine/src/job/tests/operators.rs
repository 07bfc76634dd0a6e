//! What people do.

use ConcernCleared::{Cleared, NoConcern};
use Redriven::{Ended, Live, Redriven as Again};

use super::*;

fn operate(bench: &mut Bench, name: &str, act: &Unheld) -> Operated {
    bench.run(&Operate { job: &id(name), by: "op", act, limits: Limits::default() })
}

fn in_concern() -> Bench {
    let mut bench = Bench::new();
    bench.settings.crash_threshold = 0;
    bench.submit(&[keyed("a", "n", "k"), keyed("b", "n", "k")]);
    bench.take("a");
    bench.pass(MINUTE);
    bench.run(&LapseJobs { jobs: &[id("a")] });
    assert_eq!(bench.status("a"), JobStatus::CrashConcern);
    bench
}

#[test]
fn a_concern_is_cleared_once() {
    let mut bench = in_concern();
    let jobs = [id("a"), id("a"), id("b"), id("x")];
    let cleared = bench.run(&ClearConcern { jobs: &jobs, by: "op" });
    assert_eq!(cleared, [Cleared, NoConcern, NoConcern, ConcernCleared::Unknown]);
    assert_eq!(bench.jobs["a"].streak, 0);
    assert_eq!(bench.names(&["n"], 9), ["a"], "before b again");
}

#[test]
fn only_what_is_free_can_be_touched() {
    let acts = [Unheld::Complete(json!(1)), Unheld::Reschedule(HandOver::to("m"))];
    for act in &acts {
        let mut bench = in_concern();
        bench.submit(&[
            job("ready", "n"),
            NewJob { expires: Some(Moment::In(Duration::ZERO)), ..job("expired", "n") },
            NewJob { wake: Some(Moment::In(MINUTE)), ..job("sleeping", "n") },
            after("waiting", "n", [on("sleeping")]),
            job("leased", "l"),
        ]);
        bench.take("leased");
        for name in ["a", "b", "ready", "expired"] {
            assert_eq!(operate(&mut bench, name, act), Operated::Applied, "{name}");
        }
        for (name, status) in [
            ("sleeping", JobStatus::AwaitingFuture),
            ("waiting", JobStatus::PendingJobs),
            ("leased", JobStatus::Active),
        ] {
            assert_eq!(operate(&mut bench, name, act), Operated::NotAllowed(status), "{name}");
        }
        assert_eq!(operate(&mut bench, "x", act), Operated::Unknown);
        bench.pass(MINUTE * 2);
        bench.settings.crash_threshold = 5;
        assert_eq!(operate(&mut bench, "leased", act), Operated::Applied, "its lease has lapsed");
        match act {
            Unheld::Complete(_) => assert_eq!(bench.outcome("a"), Some(JobOutcome::Done)),
            Unheld::Reschedule(_) => {
                assert_eq!((bench.jobs["a"].need.as_str(), bench.jobs["a"].streak), ("m", 0));
            }
        }
    }
}

#[test]
fn what_failed_or_crashed_can_be_redriven_at_a_rate() {
    let mut bench = Bench::new();
    let names = ["a", "b", "c"];
    bench.submit(&names.map(|name| NewJob { max_attempts: Some(1), ..keyed(name, "n", name) }));
    for hold in bench.claim(&["n"], 3) {
        if hold.job.as_str() == "c" {
            continue;
        }
        bench.settle(&hold, failed(JobRetry::After(MINUTE)));
    }
    bench.pass(MINUTE);
    bench.run(&LapseJobs { jobs: &[id("c")] });
    assert_eq!(bench.outcome("c"), Some(JobOutcome::Crashed));
    bench.submit(&[job("live", "n"), job("gone", "n")]);
    bench.cancel("gone");
    let jobs = ["a", "live", "b", "gone", "c", "x", "a"].map(id);
    let redriven = bench.run(&Redrive { jobs: &jobs, by: "op", spacing: MINUTE });
    let gone = Ended(JobOutcome::Cancelled);
    assert_eq!(redriven, [Again, Live, Again, gone, Again, Redriven::Unknown, Live]);
    assert_eq!(bench.names(&["n"], 9), ["a", "live"]);
    bench.pass(MINUTE / 2);
    let wakes = ["b", "c"].map(|name| bench.jobs[name].wake_at);
    assert_eq!(wakes, [Some(NOW + MINUTE * 2), Some(NOW + MINUTE * 3)]);
    let row = &bench.jobs["a"];
    assert_eq!((row.attempts, row.failures, row.forgiven), (2, 1, 1), "history is kept");
    let hold = JobHold { job: id("a"), token: row.lease.clone().expect("a lease").token };
    bench.finish(&hold);
    assert_eq!(bench.outcome("a"), Some(JobOutcome::Done));
}

#[test]
fn an_operator_cannot_make_a_ring() {
    let mut bench = Bench::new();
    bench.submit(&[job("a", "n"), after("b", "n", [on("a")])]);
    let JobVerdict::HandedOver(to) = hand_over("n", [on("b")]) else { unreachable!() };
    let ring = JobProblem::Ring(Dependency::Job(id("b")));
    assert_eq!(operate(&mut bench, "a", &Unheld::Reschedule(to)), Operated::Refused(ring));
    assert_eq!(bench.state("a"), JobState::Ready);
}

#[test]
fn what_is_done_stays_done() {
    let mut bench = Bench::new();
    bench.submit(&[job("a", "n")]);
    let hold = bench.take("a");
    assert_eq!(bench.settle(&hold, done()), JobSettled::Applied);
    let redriven =
        bench.run(&Redrive { jobs: &[id("a")], by: "op", spacing: std::time::Duration::ZERO });
    assert_eq!(redriven, [Ended(JobOutcome::Done)]);
}
