//! Everything about waits beside everything else, on the same few runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::harness::{Db, Random, Session, Task, define, long};

/// What may be told: no such run, a run in another state.
const EXPECTED: [&str; 3] = ["P0002", "55000", "54000"];

const WAITS: [&str; 6] = [
    r#"{"on": "hook", "token": "t1", "timeout": 1}"#,
    r#"{"on": "hook", "token": "t2"}"#,
    r#"{"on": "sleep", "for": 20000}"#,
    r#"{"on": "runs", "each": true, "children": [{"flow": "f", "input": [1]}, {"flow": "c", "input": 1}]}"#,
    r#"{"on": "runs", "outcomes": true, "detached": true, "children": [{"flow": "c", "input": 1}]}"#,
    r#"{"on": "jobs", "each": true, "children": [{"need": "n"}, {"id": "shared", "need": "n"}]}"#,
];

fn keys(tasks: &[Task]) -> String {
    let list =
        |cell: &dyn Fn(&Task) -> String| tasks.iter().map(cell).collect::<Vec<_>>().join(", ");
    format!(
        "array[{}]::uuid[], array[{}]::text[], array[{}]::int[], array[{}]::int[]",
        list(&|task| format!("'{}'", task.run)),
        list(&|task| format!("'{}'", task.step)),
        list(&|task| task.index.to_string()),
        list(&|task| task.attempt.to_string())
    )
}

fn statement(random: &mut Random, held: &mut Vec<Task>) -> String {
    let any = "(select run_id from pgflow.runs where status = 'started' order by random() limit 1)";
    random.shuffle(held);
    let some: Vec<_> = held.drain(..held.len().min(1 + random.below(3))).collect();
    let each = |value: &str| vec![value; some.len()].join(", ");
    match random.below(16) {
        0 | 1 => "select run_id from pgflow.start_flow('f', '[1, 2]') where (select count(*) from pgflow.runs where status = 'started') < 40".to_owned(),
        2..=5 => "select to_jsonb(t) from pgflow.claim_tasks(array['f', 'c'], 4) t".to_owned(),
        6 | 7 if !some.is_empty() => {
            let waits: Vec<_> = some.iter().map(|_| format!("'{}'::jsonb", random.pick(&WAITS))).collect();
            format!("select outcome from pgflow.wait_tasks({}, array[{}])", keys(&some), waits.join(", "))
        }
        8 if !some.is_empty() => {
            let keys = keys(&some);
            let (first, attempts) = keys.rsplit_once(", array[").expect("four arrays");
            format!("select outcome from pgflow.complete_tasks({first}, array[{}], array[{attempts})", each("'[1]'::jsonb"))
        }
        9 if !some.is_empty() => {
            let keys = keys(&some);
            let (first, attempts) = keys.rsplit_once(", array[").expect("four arrays");
            format!("select outcome from pgflow.fail_tasks({first}, array[{}], array[{attempts})", each("'boom'"))
        }
        10 => format!("select outcome from pgflow.signal('{}', '[1]', null, '1 second')", random.pick(&["t1", "t2"])),
        11 => "select outcome from (select run_id as r from pgflow.waits order by random() limit 1) w, pgflow.signal_task(w.r, 'a', 0, '[1]')".to_owned(),
        12 => "select woken from pgflow.wake_waits(5)".to_owned(),
        13 => "select children from pgflow.cancel_abandoned(5)".to_owned(),
        14 => match random.below(4) {
            0 => format!("select status from pgflow.cancel_run({any}, 'no')"),
            1 => "select r.status from (select run_id from pgflow.runs where status = 'failed' order by random() limit 1) f, pgflow.retry_run(f.run_id) r".to_owned(),
            2 => "select pgflow.prune_runs('0 seconds')".to_owned(),
            _ => "select pgflow.sweep_jobs(); select pgflow.prune_jobs('0 seconds')".to_owned(),
        },
        _ => "select outcome from pgflow.claim_jobs('w', array['n'], 5, 3) c, pgflow.finish_jobs(array[c.id], array[c.token::text], array['1'::jsonb])".to_owned(),
    }
}

/// Fewer waits prove nothing. A busy machine takes longer to make them.
const WAITS_AT_LEAST: usize = 20;
const PATIENCE: Duration = Duration::from_mins(3);

async fn act(mut session: Session, mut random: Random, end: Instant, waited: Arc<AtomicUsize>) {
    let mut held = Vec::new();
    let is_enough = || waited.load(Ordering::Relaxed) > WAITS_AT_LEAST;
    while Instant::now() < end || !is_enough() && Instant::now() < end + PATIENCE {
        let statement = statement(&mut random, &mut held);
        match session.ask(&statement).await {
            Ok(rows) => {
                if statement.contains("wait_tasks") && rows.contains(&"applied".to_owned()) {
                    waited.fetch_add(1, Ordering::Relaxed);
                }
                held.extend(
                    rows.iter().filter(|row| row.starts_with('{')).map(|row| Task::parse(row)),
                );
            }
            Err(failure) if EXPECTED.contains(&failure.code.as_str()) => {}
            Err(failure) => panic!("{failure}\nin {statement}"),
        }
    }
}

#[tokio::test]
async fn waits_beside_everything_never_deadlock() {
    let flows = define(
        "f",
        &[
            "a; max_attempts => 2",
            "m map; max_attempts => 2, when_exhausted => 'skip'",
            "j after a m",
        ],
    ) + &define("c", &["x; max_attempts => 1"]);
    let db = Db::with(&flows).await;
    let mut random = Random::new();
    let end = Instant::now() + Duration::from_secs(if long() { 120 } else { 8 });
    let waited = Arc::new(AtomicUsize::new(0));
    let mut sessions = Vec::new();
    for _ in 0..6 {
        let seed = Random::from_seed(random.next());
        sessions.push(tokio::spawn(act(db.session().await, seed, end, Arc::clone(&waited))));
    }
    for session in sessions {
        session.await.expect("refusals other than the expected ones");
    }
    let waited = waited.load(Ordering::Relaxed);
    assert!(waited > WAITS_AT_LEAST, "{waited} waits prove nothing");
    let deadlocks = "select deadlocks from pg_stat_database where datname = current_database()";
    assert_eq!(db.one(deadlocks).await, "0");
    db.check().await;
}
