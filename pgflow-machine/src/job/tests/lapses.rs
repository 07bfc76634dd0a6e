//! Leases that run out: streaks, thresholds, budgets.

use super::*;

#[test]
fn a_lapse_counts_once_whoever_sees_it_first() {
    let mut bench = Bench::new();
    bench.submit(&[job("a", "n")]);
    bench.take("a");
    bench.pass(Duration::from_micros(59_999_999));
    assert_eq!(bench.run(&LapseJobs { jobs: &[id("a")] }), Lapses::default(), "not yet");
    bench.pass(Duration::from_micros(1));
    let once = bench.run(&LapseJobs { jobs: &[id("a"), id("a")] });
    assert_eq!(once, Lapses { lapsed: 1, concerns: 0, ended: 0 });
    bench.take("a");
    let row = &bench.jobs["a"];
    assert_eq!((row.attempts, row.lapses, row.streak), (2, 1, 1));
    bench.pass(MINUTE);
    bench.take("a");
    let row = &bench.jobs["a"];
    assert_eq!((row.attempts, row.lapses, row.streak), (3, 2, 2), "the claim saw it first");
}

#[test]
fn the_threshold_is_reached_by_lapses_in_a_row() {
    let mut bench = Bench::new();
    bench.settings.crash_threshold = 2;
    bench.submit(&[job("a", "n")]);
    for _ in 0..2 {
        bench.take("a");
        bench.pass(MINUTE);
    }
    let hold = bench.take("a");
    assert_eq!(bench.settle(&hold, hand_over("n", [])), JobSettled::Applied);
    assert_eq!(
        (bench.jobs["a"].streak, bench.jobs["a"].lapses),
        (0, 2),
        "handed over: in a row no more"
    );
    for _ in 0..3 {
        bench.take("a");
        bench.pass(MINUTE);
    }
    assert_eq!(bench.names(&["n"], 1), [""; 0]);
    assert_eq!(bench.status("a"), JobStatus::CrashConcern);
    assert_eq!(bench.jobs["a"].lapses, 5);
    assert_eq!(bench.kinds("a").iter().filter(|kind| **kind == "concern").count(), 1);
}

/// A job is set aside however many attempts it has, and so is a message that has any number of them.
#[test]
fn a_message_with_a_budget_ends_when_that_is_spent() {
    for (is_queue, max_attempts, end) in
        [(true, Some(4), Some(JobOutcome::Crashed)), (true, None, None), (false, Some(4), None)]
    {
        let mut bench = Bench::new();
        bench.settings.crash_threshold = 1;
        bench.queues.extend(is_queue.then(|| "q".to_owned()));
        bench.submit(&[NewJob { max_attempts, ..keyed("a", "q", "k") }, keyed("b", "q", "k")]);
        for lapses in 1..=4 {
            if bench.jobs.get("a").is_some_and(|row| row.state == JobState::Ready) {
                bench.take("a");
                bench.pass(MINUTE);
                bench.run(&LapseJobs { jobs: &[id("a")] });
            }
            assert_eq!(bench.run(&JudgeStreaks { jobs: &[id("a")] }), 0, "{lapses}");
        }
        assert_eq!(bench.outcome("a"), end);
        assert_eq!(bench.state("b"), JobState::Ready, "the next of its key");
        let is_aside = end.is_none();
        assert_eq!(bench.kinds("a").contains(&"concern"), is_aside, "{is_queue} {max_attempts:?}");
        // What was set aside before it was known to be a message goes on.
        if is_aside && max_attempts.is_some() {
            bench.queues.insert("q".to_owned());
            assert_eq!(bench.run(&JudgeStreaks { jobs: &[id("a")] }), 1);
        }
    }
}

#[test]
fn failing_and_releasing_keep_the_streak() {
    for verdict in [failed(JobRetry::After(Duration::ZERO)), JobVerdict::Released] {
        let mut bench = Bench::new();
        bench.submit(&[job("a", "n")]);
        bench.take("a");
        bench.pass(MINUTE);
        let hold = bench.take("a");
        bench.settle(&hold, verdict);
        assert_eq!(bench.jobs["a"].streak, 1);
    }
}

#[test]
fn the_last_attempt_that_is_lost_is_a_crash() {
    let mut bench = Bench::new();
    bench.submit(&[NewJob { max_attempts: Some(2), ..job("a", "n") }]);
    bench.take("a");
    bench.pass(MINUTE);
    let hold = bench.take("a");
    bench.pass(MINUTE);
    assert_eq!(
        bench.run(&LapseJobs { jobs: &[id("a")] }),
        Lapses { lapsed: 1, concerns: 0, ended: 1 }
    );
    assert_eq!(bench.outcome("a"), Some(JobOutcome::Crashed));
    assert_eq!(bench.settle(&hold, done()), JobSettled::Fenced, "a zombie changes nothing");
}

#[test]
fn a_cancelled_job_ends_with_its_lease() {
    let mut bench = Bench::new();
    bench.submit(&[job("a", "n"), job("b", "n")]);
    bench.claim(&["n"], 2);
    assert_eq!([bench.cancel("a"), bench.cancel("a")], [JobCancelled::Asked; 2]);
    bench.pass(MINUTE);
    assert_eq!(bench.run(&LapseJobs { jobs: &[id("a")] }).ended, 1);
    assert_eq!(bench.outcome("a"), Some(JobOutcome::Cancelled));
    assert_eq!(bench.cancel("b"), JobCancelled::Cancelled, "its lease is over, so it ends at once");
    assert_eq!(bench.cancel("b"), JobCancelled::Ended(JobOutcome::Cancelled));
    assert_eq!(bench.cancel("c"), JobCancelled::Unknown);
}

#[test]
fn a_new_threshold_counts_at_once() {
    let mut bench = Bench::new();
    bench.submit(&[job("a", "n"), job("asleep", "s"), job("leased", "l")]);
    for name in ["a", "asleep", "leased"] {
        for _ in 0..2 {
            bench.take(name);
            bench.pass(MINUTE);
        }
    }
    let hold = bench.take("asleep");
    bench.settle(&hold, failed(JobRetry::After(MINUTE * 60)));
    let hold = bench.take("leased");
    bench.run(&LapseJobs { jobs: &[id("a")] });
    let all = [id("a"), id("asleep"), id("leased")];
    assert_eq!(bench.run(&JudgeStreaks { jobs: &all }), 0);
    bench.settings.crash_threshold = 1;
    assert_eq!(bench.run(&JudgeStreaks { jobs: &all }), 2);
    let states = |bench: &Bench| ["a", "asleep", "leased"].map(|name| bench.jobs[name].state);
    assert_eq!(states(&bench), [JobState::Concern, JobState::Concern, JobState::Leased]);
    bench.settle(&hold, JobVerdict::Released);
    assert_eq!(states(&bench), [JobState::Concern; 3]);
    bench.settings.crash_threshold = 9;
    assert_eq!(bench.run(&JudgeStreaks { jobs: &all }), 3);
    assert_eq!(states(&bench), [JobState::Ready, JobState::Sleeping, JobState::Ready]);
}
