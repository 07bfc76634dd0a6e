//! One leased job per key, and the line behind it.

use super::*;

#[test]
fn one_at_a_time_in_line_also_in_a_batch() {
    let mut bench = Bench::new();
    bench.submit(&["a", "b", "c"].map(|name| keyed(name, "n", "k")));
    bench.submit(&[keyed("other", "n", "l")]);
    let holds = bench.claim(&["n"], 9);
    let names: Vec<_> = holds.iter().map(|hold| hold.job.as_str()).collect();
    assert_eq!(names, ["a", "other"]);
    assert_eq!(bench.names(&["n"], 9), [""; 0]);
    bench.finish(&holds[0]);
    assert_eq!(bench.names(&["n"], 9), ["b"]);
}

#[test]
fn a_head_of_another_need_keeps_nobody() {
    let mut bench = Bench::new();
    bench.submit(&[keyed("a", "unserved", "k"), keyed("b", "n", "k"), keyed("c", "n", "k")]);
    let hold = bench.take("b");
    assert_eq!(bench.names(&["unserved", "n"], 9), [""; 0], "the key is held over all needs");
    assert_eq!(bench.state("a"), JobState::Parked);
    bench.finish(&hold);
    assert_eq!((bench.state("a"), bench.state("c")), (JobState::Ready, JobState::Ready));
    assert_eq!(bench.names(&["unserved", "n"], 9), ["a"], "exact in a batch of several needs");
}

#[test]
fn who_goes_before_the_head_takes_its_place() {
    let mut bench = Bench::new();
    bench.submit(&[keyed("a", "n", "k")]);
    bench.submit(&[NewJob { priority: 1, ..keyed("b", "n", "k") }]);
    assert_eq!((bench.state("a"), bench.state("b")), (JobState::Parked, JobState::Ready));
    assert_eq!(bench.names(&["n"], 9), ["b"]);
}

#[test]
fn every_way_out_frees_the_key() {
    type Way = fn(&mut Bench, JobHold);
    let ways: [(&str, Way); 7] = [
        ("finish", |bench, hold| bench.finish(&hold)),
        ("fail", |bench, hold| drop(bench.settle(&hold, failed(JobRetry::Never)))),
        ("retry", |bench, hold| drop(bench.settle(&hold, failed(JobRetry::After(MINUTE))))),
        ("sleep", |bench, hold| {
            let to = HandOver { wake: Some(Moment::In(MINUTE)), ..HandOver::to("n") };
            bench.settle(&hold, JobVerdict::HandedOver(to));
        }),
        ("wait", |bench, hold| drop(bench.settle(&hold, hand_over("n", [on("other")])))),
        ("concern", |bench, hold| {
            bench.settings.crash_threshold = 0;
            bench.pass(MINUTE);
            bench.run(&LapseJobs { jobs: &[hold.job] });
        }),
        ("cancel", |bench, hold| {
            bench.cancel("a");
            bench.settle(&hold, JobVerdict::Released);
        }),
    ];
    for (name, way) in ways {
        let mut bench = Bench::new();
        bench.submit(&[job("other", "other"), keyed("a", "n", "k"), keyed("b", "n", "k")]);
        let hold = bench.take("a");
        way(&mut bench, hold);
        assert_eq!(bench.state("b"), JobState::Ready, "{name}");
    }
}

#[test]
fn who_comes_back_gets_in_line_again() {
    let mut bench = Bench::new();
    bench.submit(&[keyed("a", "n", "k"), keyed("b", "n", "k")]);
    let a = bench.take("a");
    bench.settle(&a, failed(JobRetry::After(MINUTE)));
    let b = bench.take("b");
    bench.pass(MINUTE / 2);
    bench.run(&BeatJobs { holds: std::slice::from_ref(&b), lease: MINUTE });
    bench.pass(MINUTE / 2);
    assert_eq!(bench.names(&["n"], 9), [""; 0]);
    assert_eq!(bench.state("a"), JobState::Parked, "awake, and b has the key");
    bench.finish(&b);
    assert_eq!(bench.names(&["n"], 9), ["a"]);
}

#[test]
fn several_of_a_line_can_go_at_once() {
    let mut bench = Bench::new();
    bench.submit(&["a", "b", "c", "d"].map(|name| keyed(name, "n", "k")));
    let cancel = CancelJobs { jobs: &[id("a"), id("b"), id("c")], by: "me", reason: None };
    assert_eq!(bench.run(&cancel), [JobCancelled::Cancelled; 3]);
    assert_eq!(bench.names(&["n"], 9), ["d"]);
}

#[test]
fn a_line_is_not_loaded_as_a_whole() {
    let mut bench = Bench::new();
    let jobs: Vec<_> = (0..1000).map(|n| keyed(&format!("j{n:04}"), "n", "k")).collect();
    bench.submit(&jobs);
    let hold = bench.take("j0000");
    bench.loaded = 0;
    bench.finish(&hold);
    assert!(bench.loaded < 10, "{} rows", bench.loaded);
    assert_eq!(bench.state("j0001"), JobState::Ready);
}
