//! What claims take, and leases that last longer.

use JobBeat::{Cancelled, Extended, Lost};

use super::*;

#[test]
fn priority_first_then_place() {
    let mut bench = Bench::new();
    let urgent = NewJob { priority: 5, ..job("c", "n") };
    bench.submit(&[job("b", "n"), job("a", "n"), urgent, job("other", "m")]);
    assert_eq!(bench.names(&["n"], 2), ["c", "b"]);
    assert_eq!(bench.names(&["n", "m"], 9), ["a", "other"]);
    assert_eq!(bench.names(&["n", "m"], 9), [""; 0]);
}

#[test]
fn a_sleeper_is_had_when_it_is_due() {
    let mut bench = Bench::new();
    bench.submit(&[NewJob { wake: Some(Moment::In(MINUTE)), ..job("a", "n") }, job("b", "n")]);
    let b = bench.take("b");
    bench.finish(&b);
    bench.pass(MINUTE);
    assert_eq!(bench.status("a"), JobStatus::Ready);
    assert_eq!(bench.names(&["n"], 9), ["a"]);
    assert_eq!(bench.jobs["a"].wake_at, None);
}

#[test]
fn what_has_expired_is_not_leased_and_ends() {
    let mut bench = Bench::new();
    bench.submit(&[
        NewJob { expires: Some(Moment::In(MINUTE)), ..keyed("a", "n", "k") },
        keyed("b", "n", "k"),
        after("c", "n", [on("a").or(Policy::Fail)]),
    ]);
    bench.pass(MINUTE);
    assert_eq!(bench.names(&["n"], 9), [""; 0], "the head turns out to be over");
    assert_eq!((bench.state("a"), bench.state("b")), (JobState::Expired, JobState::Ready));
    assert_eq!(bench.run(&ExpireJobs { jobs: &[id("a"), id("b")] }), 1);
    assert_eq!(bench.outcome("a"), Some(JobOutcome::Expired));
    assert_eq!(bench.outcome("c"), Some(JobOutcome::Failed));
    assert_eq!(bench.errors["c"], "dependency a ended expired");
    assert_eq!(bench.names(&["n"], 9), ["b"]);
}

#[test]
fn a_leased_job_outlives_its_expiry() {
    let mut bench = Bench::new();
    bench.submit(&[NewJob { expires: Some(Moment::In(MINUTE)), ..job("a", "n") }]);
    let hold = bench.take("a");
    bench.pass(MINUTE / 2);
    assert_eq!(
        bench.run(&BeatJobs { holds: std::slice::from_ref(&hold), lease: MINUTE }),
        [JobBeat::Extended]
    );
    bench.pass(MINUTE / 2);
    assert_eq!(bench.run(&ExpireJobs { jobs: &[id("a")] }), 0);
    bench.finish(&hold);
    assert_eq!(bench.outcome("a"), Some(JobOutcome::Done));
}

#[test]
fn a_beat_counts_from_now_and_only_for_its_token() {
    let mut bench = Bench::new();
    bench.submit(&[job("a", "n"), job("b", "n"), job("c", "n")]);
    let holds = bench.claim(&["n"], 2);
    bench.cancel("b");
    let stranger = JobHold { job: holds[0].job.clone(), token: holds[1].token.clone() };
    let empty = JobHold { job: holds[0].job.clone(), token: JobToken(String::new()) };
    let unheld = JobHold { job: id("c"), token: JobToken(String::new()) };
    let nobody = JobHold { job: id("x"), token: JobToken::new() };
    let asked = [holds[0].clone(), holds[1].clone(), stranger, empty, unheld, nobody];
    bench.pass(MINUTE / 2);
    let beats = bench.run(&BeatJobs { holds: &asked, lease: MINUTE });
    assert_eq!(beats, [Extended, Cancelled, Lost, Lost, Lost, Lost]);
    let until = |name: &str| bench.jobs[name].lease.as_ref().map(|lease| lease.until);
    assert_eq!(until("a"), Some(bench.now + MINUTE));
    assert_eq!(until("b"), Some(NOW + MINUTE), "not extended");
}

#[test]
fn a_claim_says_what_it_wants() {
    let claim = JobClaim { worker: "w".into(), needs: vec!["n".into()], lease: MINUTE, max: 1 };
    assert_eq!(claim.check(), Ok(()));
    let check = |claim: JobClaim| claim.check().unwrap_err();
    assert_eq!(check(JobClaim { needs: Vec::new(), ..claim.clone() }), JobProblem::NoNeeds);
    assert_eq!(check(JobClaim { max: 0, ..claim.clone() }), JobProblem::NoRoom);
    let zero = Duration::ZERO;
    assert_eq!(check(JobClaim { lease: zero, ..claim.clone() }), JobProblem::ShortLease(zero));
    assert!(matches!(check(JobClaim { worker: String::new(), ..claim }), JobProblem::Name { .. }));
    let none = JobSettings { crash_threshold: 0, ..JobSettings::default() };
    assert_eq!(none.check(), Err(JobProblem::NoThreshold));
    assert_eq!(BeatJobs { holds: &[], lease: zero }.check(), Err(JobProblem::ShortLease(zero)));
}

#[test]
fn what_is_not_ready_any_more_is_not_taken() {
    let mut bench = Bench::new();
    bench.submit(&[job("a", "n"), after("waits", "n", [on("a")])]);
    let candidates = [id("waits")];
    let tokens = [JobToken::new()];
    let take = TakeJobs { candidates: &candidates, tokens: &tokens, worker: "w", lease: MINUTE };
    assert_eq!(bench.run(&take), []);
    assert_eq!(bench.state("waits"), JobState::Waiting);
}

#[test]
fn heavy_jobs_are_handed_out_in_portions() {
    let job = |bytes: usize| ReadyJob { id: JobId::new(), bytes };
    let line = [65_000_000, 1].map(job);
    assert_eq!(fitting(&line, 0).len(), 1, "one in any case, and nothing with it");
    assert_eq!(fitting(&line, 1).len(), 0, "with anything else it is too much");
    let line = [4_000_000; 20].map(job);
    assert_eq!(fitting(&line, 0).len(), 16, "to the last byte");
    assert_eq!(fitting(&line, 1).len(), 15);
    assert_eq!(fitting(&line, usize::MAX).len(), 0);
    let line = [60_000_000, 5_000_000, 1].map(job);
    assert_eq!(fitting(&line, 0).len(), 1, "what is light does not overtake");
    assert_eq!(fitting(&[], 0), []);
}
