//! One worker of the storm: does anything to anything, in any order.

use uuid::Uuid;

use crate::harness::{Random, Session, Task};

pub(super) struct Worker {
    session: Session,
    random: Random,
    held: Vec<Task>,
    runs: Vec<Uuid>,
    pub(super) settled: usize,
}

impl Worker {
    pub(super) fn new(session: Session, random: Random) -> Self {
        Self { session, random, held: Vec::new(), runs: Vec::new(), settled: 0 }
    }

    pub(super) async fn act(&mut self) {
        match self.random.below(25) {
            0..4 => self.start().await,
            4..10 => self.claim().await,
            20..22 => self.settle_and_claim().await,
            22 => self.release().await,
            23 => self.retry().await,
            10..15 => self.settle("complete_tasks", "outputs", "'[1, 2]'::jsonb").await,
            15..17 => self.settle("fail_tasks", "error_messages", "'boom'::text").await,
            17 => self.heartbeat().await,
            18 => self.session.run("select pgflow.requeue_stalled_tasks(grace => 0)").await,
            _ => self.cancel().await,
        }
    }

    async fn start(&mut self) {
        let (flow, input) =
            self.random.pick(&[("d", "{}"), ("w", "[1, 2, 3, 4, 5, 6, 7, 8]"), ("x", "{}")]);
        let id = self
            .session
            .one(&format!("select run_id from pgflow.start_flow('{flow}', '{input}')"))
            .await;
        self.runs.push(Uuid::parse_str(&id).expect("an id"));
    }

    async fn claim(&mut self) {
        let limits =
            self.random.pick(&["", ", null, array['w', 'd'], array['m', 'l'], array[2, 0]"]);
        let claim = format!("pgflow.claim_tasks(array['d', 'w', 'x'], 8{limits})");
        let rows = self.session.rows(&format!("select to_jsonb(t) from {claim} t")).await;
        self.held.extend(rows.iter().map(|row| Task::parse(row)));
    }

    /// Settles some of the tasks it holds, in random order, of many runs in one call.
    async fn settle(&mut self, function: &str, parameter: &str, value: &str) {
        self.random.shuffle(&mut self.held);
        let taken: Vec<_> = self.held.drain(..self.held.len().min(12)).collect();
        let list = list(&taken, value);
        let call = format!(
            "pgflow.{function}({}, {parameter} => array[{}], attempts => {})",
            list[0], list[1], list[2]
        );
        if !taken.is_empty() {
            let outcomes = self.session.rows(&format!("select outcome from {call}")).await;
            self.settled += outcomes.iter().filter(|outcome| *outcome == "applied").count();
        }
    }

    /// Some tasks completed, others failed, new ones claimed, in one call.
    async fn settle_and_claim(&mut self) {
        self.random.shuffle(&mut self.held);
        let done: Vec<_> = self.held.drain(..self.held.len().min(6)).collect();
        let failed: Vec<_> = self.held.drain(..self.held.len().min(3)).collect();
        let fatal = vec![if self.random.chance(10) { "true" } else { "false" }; failed.len()];
        let call = format!(
            "pgflow.settle_and_claim({}, {}, null, array[{}]::boolean[], array['d', 'w', 'x'], 6)",
            positions(&done, "jsonb", "[1, 2]"),
            positions(&failed, "text", "boom"),
            fatal.join(", ")
        );
        let rows = self.session.rows(&format!("select to_jsonb(t) from {call} t")).await;
        self.settled += rows.iter().filter(|row| row.contains("\"outcome\": \"applied\"")).count();
        let claimed = rows.iter().filter(|row| row.contains("\"kind\": \"claimed\""));
        self.held.extend(claimed.map(|row| Task::parse(row)));
    }

    async fn release(&mut self) {
        self.random.shuffle(&mut self.held);
        let taken: Vec<_> = self.held.drain(..self.held.len().min(4)).collect();
        if !taken.is_empty() {
            let list = list(&taken, "");
            self.session
                .run(&format!("select pgflow.release_tasks({}, attempts => {})", list[0], list[2]))
                .await;
        }
    }

    async fn heartbeat(&mut self) {
        self.random.shuffle(&mut self.held);
        if !self.held.is_empty() {
            let list = list(&self.held, "");
            self.session
                .run(&format!("select pgflow.heartbeat({}, attempts => {})", list[0], list[2]))
                .await;
        }
    }

    /// Takes up again a run of its own that has failed, if there is one.
    async fn retry(&mut self) {
        if !self.runs.is_empty() {
            let run = self.random.pick(&self.runs);
            let failed = format!(
                "select run_id from pgflow.runs where run_id = '{run}' and status = 'failed'"
            );
            self.session.run(&format!("select pgflow.retry_run(run_id) from ({failed}) r")).await;
        }
    }

    async fn cancel(&mut self) {
        if !self.runs.is_empty() && self.random.chance(50) {
            let run = self.random.pick(&self.runs);
            self.session.run(&format!("select pgflow.cancel_run('{run}', 'storm')")).await;
        }
    }
}

/// Keys, one value each, attempts, as arguments by position.
fn positions(tasks: &[Task], kind: &str, value: &str) -> String {
    let join =
        |cell: &dyn Fn(&Task) -> String| tasks.iter().map(cell).collect::<Vec<_>>().join(", ");
    format!(
        "array[{}]::uuid[], array[{}]::text[], array[{}]::int[], array[{}]::{kind}[], array[{}]::int[]",
        join(&|task| format!("'{}'", task.run)),
        join(&|task| format!("'{}'", task.step)),
        join(&|task| task.index.to_string()),
        join(&|_| format!("'{value}'")),
        join(&|task| task.attempt.to_string()),
    )
}

/// The keys, one value per task, the attempts.
fn list(tasks: &[Task], value: &str) -> [String; 3] {
    let join = |cell: fn(&Task) -> String| tasks.iter().map(cell).collect::<Vec<_>>().join(", ");
    let keys = format!(
        "run_ids => array[{}]::uuid[], step_slugs => array[{}], task_indexes => array[{}]",
        join(|task| format!("'{}'", task.run)),
        join(|task| format!("'{}'", task.step)),
        join(|task| task.index.to_string()),
    );
    let values = vec![value; tasks.len()].join(", ");
    [keys, values, format!("array[{}]", join(|task| task.attempt.to_string()))]
}
