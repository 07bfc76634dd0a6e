//! Who waits for whom.

use super::*;

/// Ends `name` in each possible way.
fn end(bench: &mut Bench, name: &str, outcome: JobOutcome) {
    match outcome {
        JobOutcome::Done => {
            let hold = bench.take(name);
            bench.finish(&hold);
        }
        JobOutcome::Failed => {
            let hold = bench.take(name);
            bench.settle(&hold, failed(JobRetry::Never));
        }
        JobOutcome::Cancelled => assert_eq!(bench.cancel(name), JobCancelled::Cancelled),
        JobOutcome::Expired => {
            bench.pass(MINUTE);
            assert_eq!(bench.run(&ExpireJobs { jobs: &[id(name)] }), 1);
        }
        JobOutcome::Crashed => {
            bench.take(name);
            bench.pass(MINUTE);
            assert_eq!(bench.run(&LapseJobs { jobs: &[id(name)] }).ended, 1);
        }
    }
    assert_eq!(bench.outcome(name), Some(outcome));
}

fn mortal(name: &str) -> NewJob {
    let expires = Some(Moment::In(MINUTE));
    NewJob { max_attempts: Some(1), expires, ..job(name, "first") }
}

#[test]
fn every_policy_meets_every_end() {
    for outcome in JobOutcome::ALL {
        for policy in Policy::ALL {
            for is_before in [true, false] {
                let mut bench = Bench::new();
                let waiter = after("w", "n", [on("d").or(*policy)]);
                bench.submit(&[mortal("d")]);
                if is_before {
                    end(&mut bench, "d", *outcome);
                    bench.submit(&[waiter]);
                } else {
                    bench.submit(&[waiter]);
                    assert_eq!(bench.status("w"), JobStatus::PendingJobs);
                    end(&mut bench, "d", *outcome);
                }
                let expected = match (outcome, policy) {
                    (JobOutcome::Done, _) | (_, Policy::Release) => None,
                    (_, Policy::Fail) => Some(JobOutcome::Failed),
                    (_, Policy::Cancel) => Some(JobOutcome::Cancelled),
                };
                assert_eq!(bench.outcome("w"), expected, "{outcome} {policy} {is_before}");
                if expected.is_none() {
                    assert_eq!(bench.state("w"), JobState::Ready);
                } else {
                    assert_eq!(bench.errors["w"], format!("dependency d ended {outcome}"));
                }
                assert_eq!(bench.edges, []);
            }
        }
    }
}

#[test]
fn runs_are_waited_for_like_jobs() {
    for status in [RunStatus::Completed, RunStatus::Failed, RunStatus::Cancelled] {
        for policy in Policy::ALL {
            for is_before in [true, false] {
                let mut bench = Bench::new();
                let run = RunId::from_key("f", "k");
                bench.runs.insert(run, if is_before { status } else { RunStatus::Started });
                bench.submit(&[after("w", "n", [Wait::run(run).or(*policy)])]);
                if !is_before {
                    assert_eq!(bench.state("w"), JobState::Waiting);
                    bench.runs.insert(run, status);
                    bench.run(&RunsEnded { runs: &[(run, status)] });
                }
                let expected = match (status, policy) {
                    (RunStatus::Completed, _) | (_, Policy::Release) => None,
                    (_, Policy::Fail) => Some(JobOutcome::Failed),
                    (_, Policy::Cancel) => Some(JobOutcome::Cancelled),
                };
                assert_eq!(bench.outcome("w"), expected, "{status} {policy} {is_before}");
            }
        }
    }
}

#[test]
fn an_end_is_passed_on_however_far() {
    let mut bench = Bench::new();
    bench.submit(&[job("j0", "first")]);
    for n in 1..50 {
        let policy = if n % 2 == 0 { Policy::Fail } else { Policy::Cancel };
        let before = on(&format!("j{}", n - 1)).or(policy);
        bench.submit(&[after(&format!("j{n}"), "n", [before])]);
    }
    bench.submit(&[after("last", "n", [on("j49")])]);
    end(&mut bench, "j0", JobOutcome::Failed);
    assert_eq!(bench.archive.len(), 50);
    assert_eq!(bench.state("last"), JobState::Ready);
    assert_eq!(bench.errors["j49"], "dependency j48 ended failed");
}

#[test]
fn who_waits_for_two_ends_with_the_first_that_takes_it_along() {
    let mut bench = Bench::new();
    bench.submit(&[job("a", "first"), job("b", "other")]);
    bench.submit(&[after("w", "n", [on("a").or(Policy::Fail), on("b").or(Policy::Cancel)])]);
    end(&mut bench, "a", JobOutcome::Failed);
    assert_eq!(bench.outcome("w"), Some(JobOutcome::Failed));
    assert_eq!(bench.edges, [], "the other edge goes too");
    end(&mut bench, "b", JobOutcome::Failed);
}

#[test]
fn a_join_counts_down_and_costs_the_same_for_each_child() {
    let mut bench = Bench::new();
    let children: Vec<_> = (0..500).map(|n| job(&format!("c{n:03}"), "child")).collect();
    bench.submit(&children);
    let waits: Vec<_> = children.iter().map(|child| Wait::job(child.id.clone())).collect();
    bench.submit(&[job("parent", "p")]);
    let parent = bench.take("parent");
    assert_eq!(bench.settle(&parent, hand_over("p", waits)), JobSettled::Applied);
    assert_eq!(bench.jobs["parent"].waits, 500);
    let mut most = 0;
    for hold in bench.claim(&["child"], 500) {
        bench.loaded = 0;
        bench.finish(&hold);
        most = most.max(bench.loaded);
    }
    assert!(most <= 4, "{most} rows for one child");
    assert_eq!(bench.state("parent"), JobState::Ready);
    assert_eq!(bench.kinds("parent"), ["submitted", "claimed", "handed_over", "unblocked"]);
}

#[test]
fn the_same_dependency_twice_is_one() {
    let mut bench = Bench::new();
    bench.submit(&[job("a", "first"), after("w", "n", [on("a"), on("a").or(Policy::Fail)])]);
    assert_eq!(bench.jobs["w"].waits, 1);
    end(&mut bench, "a", JobOutcome::Failed);
    assert_eq!(bench.state("w"), JobState::Ready, "the first word counts");
}

#[test]
fn a_batch_may_wait_for_what_it_ends() {
    for order in [[0, 1], [1, 0]] {
        let mut bench = Bench::new();
        bench.submit(&[job("a", "n"), job("b", "n")]);
        let holds = bench.claim(&["n"], 2);
        let settles = [
            JobSettle::new(holds[0].clone(), hand_over("m", [on("b")])),
            JobSettle::new(holds[1].clone(), done()),
        ];
        let settles = order.map(|at| settles[at].clone());
        assert_eq!(bench.settle_all(&settles), [JobSettled::Applied, JobSettled::Applied]);
        assert_eq!(bench.state("a"), JobState::Ready);
        assert_eq!(bench.edges, []);
    }
}

#[test]
fn rings_are_refused() {
    let mut bench = Bench::new();
    bench.submit(&[job("a", "n")]);
    let a = bench.take("a");
    bench.submit(&[after("b", "n", [on("a")]), after("c", "n", [on("b")])]);
    let ring = JobSettled::Refused(JobProblem::Ring(Dependency::Job(id("c"))));
    assert_eq!(bench.settle(&a, hand_over("n", [on("c")])), ring);
    assert_eq!(bench.state("a"), JobState::Leased);
    bench.submit(&[job("d", "n")]);
    let d = bench.take("d");
    let settles = [
        JobSettle::new(a, hand_over("n", [on("d")])),
        JobSettle::new(d, hand_over("n", [on("c")])),
    ];
    let outcomes = bench.settle_all(&settles);
    assert_eq!(outcomes, [JobSettled::Applied, ring], "also those of one batch");
}

#[test]
fn the_walk_is_bounded() {
    let mut bench = Bench::new();
    bench.submit(&[job("j0", "n")]);
    let first = bench.take("j0");
    let far = RING_WALK + 5;
    let chain = (1..=far).map(|n| after(&format!("j{n}"), "n", [on(&format!("j{}", n - 1))]));
    bench.submit(&chain.collect::<Vec<_>>());
    let near = hand_over("n", [on(&format!("j{}", RING_WALK - 2))]);
    assert!(matches!(bench.settle(&first, near), JobSettled::Refused(JobProblem::Ring(_))));
    let slips = hand_over("n", [on(&format!("j{far}"))]);
    assert_eq!(bench.settle(&first, slips), JobSettled::Applied, "the check will report it");
}
