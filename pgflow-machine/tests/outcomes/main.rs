//! What a settle and a heartbeat are told, and what becomes of the rows: all statuses, attempts and verdicts.
//!
//! `table.txt` has a line per combination of statuses, also of those that no run ever reaches. The tests of the SQL core
//! read the same file, so it is the one answer for both. `PGFLOW_WRITE=1 cargo test -p pgflow-machine --test outcomes`
//! writes it anew; then read the difference.

mod case;
mod cell;

use std::path::PathBuf;

use case::Case;

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/outcomes/table.txt")
}

/// The whole table, as the machine has it.
fn table() -> String {
    let head = ["run", "step", "task", "attempt"].into_iter().chain(cell::COLUMNS);
    let lines = Case::all().map(|case| {
        case.words().into_iter().map(str::to_owned).chain(cell::row(&case)).collect::<Vec<_>>()
    });
    let head = std::iter::once(head.map(str::to_owned).collect());
    head.chain(lines).map(|words| aligned(&words) + "\n").collect()
}

fn aligned(words: &[String]) -> String {
    let padded = words.iter().enumerate().map(|(n, word)| match n {
        0..4 => format!("{word:<10}"),
        _ => format!("{word:<40}"),
    });
    padded.collect::<String>().trim_end().to_owned()
}

#[test]
fn outcomes_are_those_of_the_table() {
    let found = table();
    if std::env::var_os("PGFLOW_WRITE").is_some() {
        std::fs::write(path(), &found).expect("the table can be written");
    }
    let expected = std::fs::read_to_string(path()).expect("the table");
    for (n, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
        assert_eq!(found, expected, "line {}", n + 1);
    }
    assert_eq!(found.lines().count(), expected.lines().count());
}

/// The table is long; what it must never say is short.
#[test]
fn only_the_attempt_that_holds_a_task_of_a_step_that_goes_on_changes_its_run() {
    for case in Case::all() {
        let applies = case.words() == ["started", "started", "started", "current"];
        for cell in cell::row(&case) {
            let has_effect = cell.starts_with("applied") || cell == "extended";
            assert_eq!(has_effect, applies, "{:?}: {cell}", case.words());
        }
    }
}
