//! Other examples that run with nothing but cargo: in memory, and in a file.

use pgflow_quickstart_tests::{Dir, what_it_shows};

#[test]
fn an_approval_is_given() {
    let dir = Dir::new("approval");
    for args in [&["--fast"][..], &["--fast", "sqlite:approval.db"]] {
        let shown = what_it_shows("approval", &dir.0, args);
        assert!(shown.contains("is \"Waits\" fine? hk_"), "{shown}");
        assert!(shown.contains("\n\"Waits\", approved by Ann\n"), "{shown}");
        assert!(shown.ends_with("nobody looked at \"Waits\" for seven days\n"), "{shown}");
    }
}

#[test]
fn tokens_are_read_as_they_come() {
    let dir = Dir::new("tokens");
    for args in [&[][..], &["sqlite:tokens.db"]] {
        let shown = what_it_shows("tokens", &dir.0, args);
        let again = "Because the sky is \n(once more) Because the sky is full of tiny things";
        assert!(shown.contains(again), "the second attempt says everything again: {shown}");
        assert!(shown.ends_with("read to the end; the step output 20\n"), "{shown}");
    }
}

#[test]
fn schedules_start_runs() {
    let dir = Dir::new("schedules");
    let shown = what_it_shows("schedules", &dir.0, &[]);
    for sign in ["a report: every two seconds\n", "a report: later\n", "often (*/2 * * * * *): "] {
        assert!(shown.contains(sign), "{sign} in {shown}");
    }
    let runs = shown.lines().last().and_then(|line| line.strip_suffix(" runs"));
    let runs: usize = runs.and_then(|runs| runs.parse().ok()).expect("it says how many");
    let said = shown.matches("a report: ").count();
    assert!(said >= 3 && runs >= said, "{shown}");
}
