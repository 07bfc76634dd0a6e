//! The committed messages, measured: short, and free of things the reader cannot act on.

use std::fmt::Write as _;
use std::path::Path;

use pgflow_ui_tests::{Report, cases, orphans, reports};

/// Lines an error may take.
const LIMIT: usize = 12;

/// Errors that are longer, and why.
const LONGER: &[(&str, usize, &str)] = &[(
    "future_not_send",
    15,
    "rustc itself shows the value and the await that keep it from being `Send`",
)];

/// What no message may show: our own machinery, and rustc's way of naming it.
const INTERNALS: &[&str] = &[
    "__private",
    "__pgflow",
    "$WORKSPACE",
    "$CARGO",
    "$RUST",
    "pgflow_backend",
    "pgflow_macros",
    "pgflow_model",
    "pgflow_mysql",
    "pgflow_postgres",
    "pgflow_runtime",
    "pgflow_sqlite",
    "pgflow_syntax",
    "proc_macro",
    "proc macro panicked",
    "this error originates in",
    "in this attribute macro expansion",
    "in this procedural macro expansion",
    "required by a bound in",
    "the full name for the type has been written",
    "the following other types implement trait",
];

/// Every error of every case, as `(case, error)`.
fn all() -> Vec<(String, Report)> {
    let of = |case: pgflow_ui_tests::Case| {
        let snapshot = case.snapshot().unwrap_or_default();
        reports(&snapshot).into_iter().map(move |report| (case.name.clone(), report))
    };
    cases().into_iter().flat_map(of).collect()
}

fn list(of: &[(String, Report)]) -> String {
    of.iter().fold(String::new(), |mut list, (case, report)| {
        let _ = write!(list, "\n\n{case} ({} lines)\n{}", report.length(), report.text());
        list
    })
}

#[test]
fn every_case_has_a_message_and_every_message_a_case() {
    let without: Vec<_> = cases().into_iter().filter(|case| case.snapshot().is_none()).collect();
    assert!(without.is_empty(), "no .stderr for {without:?}");
    assert!(orphans().is_empty(), "no .rs for {:?}", orphans());
}

#[test]
fn errors_are_short() {
    let limit = |case: &str| {
        let longer = LONGER.iter().find(|(name, ..)| *name == case);
        longer.map_or(LIMIT, |(_, lines, _)| *lines)
    };
    let (long, _): (Vec<_>, Vec<_>) =
        all().into_iter().partition(|(case, report)| report.length() > limit(case));
    assert!(long.is_empty(), "{} errors are too long:{}", long.len(), list(&long));
}

#[test]
fn exceptions_are_still_needed() {
    for (case, lines, reason) in LONGER {
        let longest = all().into_iter().filter(|(name, _)| name == case);
        let longest = longest.map(|(_, report)| report.length()).max();
        assert_eq!(longest, Some(*lines), "`{case}` is listed as longer because {reason}");
    }
}

#[test]
fn no_error_shows_our_machinery() {
    let shows = |report: &Report| INTERNALS.iter().any(|word| report.text().contains(word));
    let showing: Vec<_> = all().into_iter().filter(|(_, report)| shows(report)).collect();
    assert!(showing.is_empty(), "{} errors show internals:{}", showing.len(), list(&showing));
}

#[test]
fn every_error_points_into_the_case_first() {
    let points = |report: &Report| {
        let text = report.text();
        let first = text.lines().find(|line| line.contains("--> "));
        first.is_some_and(|line| line.contains("--> fail/"))
    };
    let lost: Vec<_> = all().into_iter().filter(|(_, report)| !points(report)).collect();
    assert!(lost.is_empty(), "{} errors point elsewhere:{}", lost.len(), list(&lost));
}

#[test]
fn the_readme_lists_every_case() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(readme).expect("there is a README.md");
    let unlisted: Vec<_> =
        cases().into_iter().filter(|case| !readme.contains(&format!("`{}`", case.name))).collect();
    assert!(unlisted.is_empty(), "not in README.md: {unlisted:?}");
}
