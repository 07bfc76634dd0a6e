//! Every case runs on a real server and gives figures.

use std::process::Command;

use serde_json::Value;

/// The case, the protocols it must have been driven with, and the phases it must have measured.
const EXPECTED: [(&str, &[&str], &[&str]); 11] = [
    ("control-insert", &[], &["one row, commit"]),
    ("control-update", &[], &["one row, commit"]),
    ("control-queue", &[], &["send, read, archive"]),
    ("single", &["batched", "published"], &["start", "drain", "start and drain"]),
    ("diamond", &["batched", "published"], &["start", "drain", "start and drain"]),
    ("map", &["batched", "published"], &["drain", "spawn", "claim", "complete"]),
    ("start", &["batched"], &["diamond", "root map"]),
    ("flat-width", &["batched"], &["spawn", "claim", "complete"]),
    ("flat-waiting", &["batched"], &["spawn", "claim", "complete"]),
    ("flat-history", &["batched"], &["spawn", "claim", "complete"]),
    ("batch", &["batched"], &["claim", "complete"]),
];

fn bench(arguments: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_pgflow-bench"))
        .args(arguments)
        .output()
        .expect("the benchmark does not start")
}

#[test]
fn every_case_gives_figures() {
    let output = bench(&["--smoke", "--json", "-"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("the output is not JSON");
    let rounds = report["rounds"].as_array().expect("there are no rounds");
    for (case, protocols, phases) in EXPECTED {
        let of_case: Vec<&Value> = rounds.iter().filter(|sample| sample["case"] == case).collect();
        for phase in phases {
            assert!(
                of_case.iter().any(|sample| sample["phase"] == *phase),
                "{case} has no phase `{phase}`"
            );
        }
        for protocol in protocols {
            assert!(
                of_case.iter().any(|sample| sample["protocol"] == *protocol),
                "{case} was not driven {protocol}"
            );
        }
    }
    rounds.iter().for_each(has_figures);
    assert_eq!(report["flatness"].as_array().map(Vec::len), Some(12));
    assert!(report["goals"].as_array().is_some_and(|goals| goals.len() >= 6));
}

/// The server is on this machine, so its CPU must be known.
fn has_figures(sample: &Value) {
    let positive = |value: &Value| value.as_f64().is_some_and(|number| number > 0.0);
    for figure in ["items", "insert_per_second"] {
        assert!(positive(&sample[figure]), "{figure} of {sample}");
    }
    for figure in ["wall_s", "cpu_s"] {
        assert!(positive(&sample["cost"][figure]), "{figure} of {sample}");
    }
    assert!(positive(&sample["cost"]["wal"]["bytes"]), "WAL of {sample}");
}

#[test]
fn the_list_names_every_case() {
    let output = bench(&["--list"]);
    let text = String::from_utf8_lossy(&output.stdout);
    for (case, ..) in EXPECTED {
        assert!(text.contains(case), "{case} is not listed");
    }
}

#[test]
fn an_unknown_case_is_refused_before_a_server_is_started() {
    let output = bench(&["--case", "no-such-case"]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("`no-such-case`"));
}
