//! Every case runs on a real server and gives figures.

use std::process::Command;

use pgflow_test_support::{Server, ServerOptions};
use serde_json::Value;
use sqlx::Connection;

/// The case, the protocols it must have been driven with, and the phases it must have measured.
const EXPECTED: [(&str, &[&str], &[&str]); 16] = [
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
    ("flat-outputs", &["batched"], &["put together, 100 characters", "hand out, 1,000 characters"]),
    ("batch", &["batched"], &["claim", "complete"]),
    ("jobs-submit", &["batched", "published"], &["one by one", "in batches"]),
    ("flat-jobs", &["batched", "published"], &["claim, finish, submit"]),
    ("jobs-empty", &["batched", "published"], &["claims", "false-empty"]),
    ("jobs-join", &["batched", "published"], &["fork and join"]),
];

/// The case through a worker and the phases it must have measured, on both databases.
const EXPECTED_OF_WORKERS: [(&str, &[&str]); 19] = [
    ("worker-control", &["one row, commit"]),
    ("worker-noop", &["start", "drain", "start and drain"]),
    ("worker-chain", &["start", "drain", "start and drain"]),
    ("worker-diamond", &["start", "drain", "start and drain"]),
    ("worker-map", &["start", "drain"]),
    ("worker-start", &["same process", "another process"]),
    ("worker-step", &["end to next handler"]),
    ("worker-idle", &["idle"]),
    ("worker-fair", &["small run, idle", "small run, behind a map", "map alone", "both"]),
    ("worker-jobs", &["map tasks", "submit", "jobs"]),
    ("worker-jobs-submit", &["one by one", "in batches"]),
    ("worker-jobs-cycle", &["claim, finish, submit"]),
    ("worker-jobs-empty", &["claims", "false-empty"]),
    ("worker-jobs-join", &["fork and join"]),
    ("worker-append", &["one writer", "eight writers"]),
    ("worker-readers", &["same process", "another process"]),
    ("worker-signal", &["same process", "another process"]),
    ("worker-sleep", &["late"]),
    ("worker-pipelines", &["push", "process", "batches of 100", "push to handler"]),
];

fn bench(arguments: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_pgflow-bench"))
        .args(arguments)
        .output()
        .expect("the benchmark does not start")
}

#[test]
fn every_case_gives_figures() {
    let cores = EXPECTED.iter().flat_map(|(case, ..)| ["--case", *case]);
    let output = bench(&["--smoke", "--json", "-"].into_iter().chain(cores).collect::<Vec<_>>());
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
    assert_eq!(report["flatness"].as_array().map(Vec::len), Some(19));
    assert!(report["goals"].as_array().is_some_and(|goals| goals.len() >= 6));
}

#[test]
fn every_case_of_workers_gives_figures_on_every_database() {
    let output = bench(&["--smoke", "--case", "worker", "--json", "-"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("the output is not JSON");
    assert_eq!(report["rounds"].as_array().map(Vec::len), Some(0), "only workers were asked for");
    let rounds = report["worker"]["rounds"].as_array().expect("there are no rounds");
    for database in ["postgres", "sqlite", "mysql"] {
        for (case, phases) in EXPECTED_OF_WORKERS {
            for phase in phases {
                let is_it = |sample: &&Value| {
                    sample["database"] == database
                        && sample["case"] == case
                        && sample["phase"] == *phase
                };
                let sample = rounds.iter().find(is_it);
                let sample = sample.unwrap_or_else(|| panic!("{database}: no {case} {phase}"));
                assert!(sample["wall_s"].as_f64() > Some(0.0), "{sample}");
                assert!(sample["insert_per_second"].as_f64() > Some(0.0), "{sample}");
            }
        }
    }
    let is_timed = |sample: &&Value| sample["times"]["p50_ms"].as_f64() > Some(0.0);
    assert_eq!(
        rounds.iter().filter(is_timed).count(),
        36,
        "controls, starts, steps, small runs, readers, signals, sleeps and messages"
    );
    assert_eq!(report["goals"].as_array().map(Vec::len), Some(59));
}

#[test]
fn a_file_of_sqlite_is_enough_and_nothing_of_it_is_left() {
    let file = std::env::temp_dir().join(format!("pgflow_bench_smoke_{}.db", std::process::id()));
    let url = format!("sqlite:{}", file.display());
    let output = bench(&["--smoke", "--case", "worker-map", "--database", &url]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("worker-map") && !text.contains("postgres"), "{text}");
    assert!(!file.exists() && !file.with_extension("control").exists());
}

/// As an installation of the published pgwf is: no flows, no arrays, and jobs one by one.
#[test]
fn a_database_that_has_only_pgwf_is_measured_beside_ours() {
    let server = Server::start(ServerOptions::default()).expect("a server");
    let url = server.url("postgres");
    run(&url, include_str!("pgwf.sql"));
    let other = format!("published={url}");
    let cases = ["jobs-submit", "flat-jobs", "jobs-empty", "jobs-join", "single"];
    let cases = cases.iter().flat_map(|case| ["--case", *case]);
    let arguments = ["--smoke", "--json", "-", "--other", other.as_str()].into_iter().chain(cases);
    let output = bench(&arguments.collect::<Vec<_>>());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("the output is not JSON");
    let rounds = report["rounds"].as_array().expect("there are no rounds");
    let of_it: Vec<_> = rounds.iter().filter(|sample| sample["target"] == "published").collect();
    for (case, _, phases) in EXPECTED.iter().filter(|(case, ..)| case.contains("jobs")) {
        for phase in *phases {
            let is_it = |sample: &&&Value| sample["case"] == *case && sample["phase"] == *phase;
            let sample = of_it.iter().find(is_it);
            let sample = sample.unwrap_or_else(|| panic!("{case} has no phase `{phase}`"));
            assert_eq!(sample["protocol"], "published", "{sample}");
        }
    }
    assert!(of_it.iter().all(|sample| sample["case"] != "single"), "it has no flows");
    of_it.into_iter().for_each(has_figures);
    let goals = report["goals"].as_array().expect("there are goals");
    let against = |goal: &&Value| goal["target"] == "≥ as fast";
    assert_eq!(goals.iter().filter(against).count(), 2, "one by one, and in batches: {goals:#?}");
    // It is left as it was found.
    run(&url, "do $$ begin
      assert not exists (select job_id from pgwf.jobs union all select job_id from pgwf.jobs_archive), 'jobs were left';
      assert to_regnamespace('pgflow_bench') is null and to_regnamespace('pgflow') is null, 'a schema was left';
    end $$");
}

fn run(url: &str, sql: &'static str) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let mut conn = sqlx::PgConnection::connect(url).await.expect("a connection");
        sqlx::raw_sql(sql).execute(&mut conn).await.expect("no error");
    });
}

/// The server is on this machine, so its CPU must be known.
fn has_figures(sample: &Value) {
    let positive = |value: &Value| value.as_f64().is_some_and(|number| number > 0.0);
    // Claims that came back empty beside a full line: the fewer the better.
    assert!(positive(&sample["items"]) || sample["phase"] == "false-empty", "items of {sample}");
    assert!(positive(&sample["insert_per_second"]), "insert_per_second of {sample}");
    assert!(positive(&sample["cost"]["cpu_s"]), "CPU of {sample}");
    // What is left after other costs are taken off, which on a busy machine may be nothing.
    assert!(sample["cost"]["wall_s"].as_f64() >= Some(0.0), "wall_s of {sample}");
    assert!(positive(&sample["cost"]["wal"]["bytes"]), "WAL of {sample}");
}

#[test]
fn the_list_names_every_case() {
    let output = bench(&["--list"]);
    let text = String::from_utf8_lossy(&output.stdout);
    let workers = EXPECTED_OF_WORKERS.iter().map(|(case, _)| *case);
    for case in EXPECTED.iter().map(|(case, ..)| *case).chain(workers) {
        assert!(text.contains(case), "{case} is not listed");
    }
}

#[test]
fn an_unknown_case_is_refused_before_a_server_is_started() {
    let output = bench(&["--case", "no-such-case"]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("`no-such-case`"));
}
