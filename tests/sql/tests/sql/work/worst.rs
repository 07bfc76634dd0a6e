//! Every operation on the queue gets on with the worst payloads that the limits allow.

use crate::harness::{Db, define};

/// Payloads at the edge of the limits, as SQL.
const WORST: [(&str, &str); 6] = [
    (
        "a text that does not compress",
        "(select to_jsonb(string_agg(md5(n::text), '')) from generate_series(1, 131000) n)",
    ),
    ("a text that does", "to_jsonb(repeat('x', 4194302))"),
    ("long numbers", "(select jsonb_agg('1e131071'::jsonb) from generate_series(1, 31))"),
    ("long fractions", "(select jsonb_agg('1e-16383'::jsonb) from generate_series(1, 255))"),
    ("many numbers", "(select jsonb_agg(7) from generate_series(1, 1398101))"),
    ("the deepest array", "(repeat('[', 100) || repeat(']', 100))::jsonb"),
];

/// As long as an error or a reason may be, and longer: it is cut.
const WORDS: &str = "repeat('so long ', 20000)";

const WORKER: &str = "11111111-1111-4111-8111-111111111111";

struct Queue<'a> {
    db: &'a Db,
    payload: &'a str,
    what: &'a str,
}

impl Queue<'_> {
    /// Claims everything there is; returns the steps.
    async fn claim(&self, function: &str) -> Vec<String> {
        self.db.wake("f").await;
        let call = format!(
            "select step_slug from pgflow.{function} where step_slug is not null order by 1"
        );
        self.db.rows(&call).await
    }

    /// Claims until there is nothing more: what is heavy comes in portions.
    async fn claims(&self, expected: &[&str]) {
        let claim = format!("claim_tasks(array['f'], 100, '{WORKER}')");
        let mut claimed = Vec::new();
        while claimed.len() < expected.len() {
            let portion = self.claim(&claim).await;
            assert!(!portion.is_empty(), "{} stops a claim behind {claimed:?}", self.what);
            claimed.extend(portion);
        }
        claimed.sort();
        assert_eq!(claimed, expected, "{}", self.what);
    }

    /// Calls a function with arrays of the tasks that run, and others for them; every outcome is to be this one.
    async fn settles(&self, function: &str, others: &str, outcome: &str) {
        let tasks = "array_agg(run_id), array_agg(step_slug), array_agg(task_index)";
        let call = format!(
            "select distinct o.outcome from (
               select {tasks}, array_agg(attempts_count), array_agg({WORDS}), array_agg({}), array_agg(0)
                 from pgflow.step_tasks where status = 'started'
             ) a(runs, steps, indexes, attempts, words, outputs, delays), pgflow.{function}(runs, steps, indexes{others}) o",
            self.payload,
        );
        assert_eq!(self.db.rows(&call).await, [outcome], "{function} with {}", self.what);
    }

    async fn run(&self) -> String {
        self.db.one("select status from pgflow.runs order by run_id desc limit 1").await
    }

    async fn start(&self) {
        self.db.run(&format!("select 1 from pgflow.start_flow('f', {})", self.payload)).await;
    }
}

/// Once through everything that a worker or an operator may do with a task.
async fn goes_round(queue: &Queue<'_>) {
    let (db, what) = (queue.db, queue.what);
    queue.start().await;
    queue.claims(&["a"]).await;
    queue.settles("heartbeat", ", attempts", "extended").await;
    queue.settles("yield_tasks", ", attempts, array[3600], words", "applied").await;
    assert_eq!(db.one("select pgflow.resume_tasks(array['f'])").await, "1", "{what}");
    queue.claims(&["a"]).await;
    queue.settles("fail_tasks", ", words, attempts", "applied").await;
    queue.claims(&["a"]).await;
    queue.settles("release_tasks", ", attempts", "applied").await;
    queue.claims(&["a"]).await;
    let unknown = format!(
        "select pgflow.release_unknown_tasks('{WORKER}', array['f'], '{{}}', '{{}}', '{{}}', '{{}}')"
    );
    assert_eq!(db.one(&unknown).await, "1", "{what}");
    queue.claims(&["a"]).await;
    db.run("update pgflow.step_tasks set queued_at = queued_at - interval '2 days', started_at = started_at - interval '1 day', lease_until = null where status = 'started'").await;
    assert_eq!(
        queue.claim(&format!("sweep_and_claim(0, array['f'], 9, '{WORKER}')")).await,
        ["a"],
        "{what}"
    );
    queue.settles("fail_tasks", ", words, attempts, delays, array[true]", "applied").await;
    assert_eq!(queue.run().await, "failed", "{what}");
    db.run(
        "select 1 from pgflow.retry_run((select run_id from pgflow.runs where status = 'failed'))",
    )
    .await;
    queue.claims(&["a"]).await;
    queue.settles("complete_tasks", ", outputs, attempts", "applied").await;
    queue.claims(&["b", "c"]).await;
    queue.settles("complete_tasks", ", outputs, attempts", "applied").await;
    assert_eq!(queue.run().await, "completed", "{what}");
    queue.start().await;
    queue.claims(&["a"]).await;
    db.run(&format!("select 1 from pgflow.cancel_run((select run_id from pgflow.runs where status = 'started'), {WORDS})")).await;
    assert_eq!(queue.run().await, "cancelled", "{what}");
    queue.settles("heartbeat", ", attempts", "cancelled").await;
    assert_eq!(db.queue("f").await.len(), 0, "{what}");
}

#[tokio::test]
async fn every_operation_gets_on() {
    let db = Db::with(&define("f", &["a", "b after a", "c after a"])).await;
    let insert = "insert into pgflow.workers (worker_id, queue_name, function_name) values";
    db.run(&format!("{insert} ('{WORKER}', 'f', 'f')")).await;
    for (what, payload) in WORST {
        goes_round(&Queue { db: &db, payload, what }).await;
        db.check().await;
        let prune = "select runs from pgflow.prune_data_older_than(interval '0', null)";
        assert_eq!(db.one(prune).await, "2", "{what}");
        db.run(&format!("{insert} ('{WORKER}', 'f', 'f')")).await;
    }
}

/// What is refused is refused without being written out.
#[tokio::test]
async fn refusing_a_number_does_not_depend_on_its_length() {
    let db = Db::with(&define("f", &["a"])).await;
    for number in ["1e-16383", "-1e-16383", "'1.' || repeat('0', 16383)", "1e131071"] {
        let number = if number.contains('|') { number.to_owned() } else { format!("'{number}'") };
        let payload =
            format!("(select jsonb_agg(({number})::jsonb) from generate_series(1, 40000))");
        let failure = db.error(&format!("select pgflow.start_flow('f', {payload})")).await;
        // It stopped counting when it was enough: all of it would be 655 MB and more.
        let words: Vec<&str> = failure.message.split_whitespace().collect();
        let at = words.iter().position(|word| *word == "has").expect("how many");
        let bytes: u64 = words[at + 1].parse().expect("a number");
        assert!((4_194_304..5_000_000).contains(&bytes), "{failure}");
    }
}
