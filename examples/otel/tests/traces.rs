//! Every span of a run is in the trace that has the run's id.

use std::process::Command;

#[test]
fn a_run_is_one_trace() {
    let output = Command::new(env!("CARGO_BIN_EXE_pgflow-example-otel")).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let run = text.trim_end().rsplit_once("14, as trace ").expect("the sum of three squares").1;
    let after = |name: &str| {
        let words = text.lines().filter_map(|line| line.trim().split_once(':'));
        let of = words.filter(|(word, _)| word.trim_end() == name).map(|(_, value)| value.trim());
        of.map(str::to_owned).collect::<Vec<_>>()
    };
    let traces = after("TraceId");
    assert_eq!(traces.len(), 15, "a run, a step and an attempt for each of five tasks\n{text}");
    assert!(traces.iter().all(|trace| trace == run), "{traces:?} of {run}");
}
