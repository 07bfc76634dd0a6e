//! A worker that does tasks in random order, one by one and in batches.

use std::sync::Arc;

use serde_json::Value;

use super::model::{Flow, Step};
use crate::harness::{Random, Session, Task, lit};

pub(super) struct Worker {
    session: Session,
    flows: Arc<Vec<Flow>>,
    random: Random,
    held: Vec<Task>,
}

impl Worker {
    pub(super) fn new(session: Session, flows: &Arc<Vec<Flow>>, random: Random) -> Self {
        Self { session, flows: Arc::clone(flows), random, held: Vec::new() }
    }

    /// Until every run has ended.
    pub(super) async fn drain(mut self) {
        for _ in 0..20_000 {
            self.claim().await;
            self.random.shuffle(&mut self.held);
            let kept = self.random.below(self.held.len() + 1);
            let mut settled = self.held.split_off(kept);
            let failing: Vec<_> = settled.extract_if(.., |task| fails(&self.flows, task)).collect();
            self.fail(&failing).await;
            self.complete(&settled).await;
            let alive = "select count(*) from pgflow.runs where status = 'started'";
            if self.session.one(alive).await == "0" {
                return;
            }
        }
        panic!("there is always something left");
    }

    async fn claim(&mut self) {
        let queues: Vec<_> = self.flows.iter().map(|flow| lit(&flow.slug)).collect();
        let call = format!(
            "pgflow.claim_tasks(array[{}], {})",
            queues.join(", "),
            1 + self.random.below(9)
        );
        let rows = self.session.rows(&format!("select to_jsonb(t) from {call} t")).await;
        self.held.extend(rows.iter().map(|row| Task::parse(row)));
    }

    async fn complete(&mut self, tasks: &[Task]) {
        let output = |task: &Task| step(&self.flows, task).output(&task.input);
        let outputs: Vec<Value> = tasks.iter().map(output).collect();
        let values: Vec<_> =
            outputs.iter().map(|value| format!("{}::jsonb", lit(&value.to_string()))).collect();
        self.settle("complete_task", tasks, &values).await;
    }

    async fn fail(&mut self, tasks: &[Task]) {
        self.settle("fail_task", tasks, &vec!["'boom'".to_owned(); tasks.len()]).await;
    }

    async fn settle(&mut self, function: &str, tasks: &[Task], values: &[String]) {
        if self.random.chance(50) {
            for (task, value) in tasks.iter().zip(values) {
                let key = format!("'{}', '{}', {}", task.run, task.step, task.index);
                let call = format!("select pgflow.{function}({key}, {value}, {})", task.attempt);
                self.session.run(&call).await;
            }
        } else if !tasks.is_empty() {
            let outcomes = self.session.rows(&batch(function, tasks, values)).await;
            assert_eq!(outcomes.len(), tasks.len());
            let wrong =
                outcomes.iter().find(|outcome| ["fenced", "unknown"].contains(&outcome.as_str()));
            assert_eq!(wrong, None, "{outcomes:?}");
        }
    }
}

fn step<'f>(flows: &'f [Flow], task: &Task) -> &'f Step {
    flows.iter().find(|flow| flow.slug == task.flow).expect("a flow").step(&task.step)
}

fn fails(flows: &[Flow], task: &Task) -> bool {
    u64::try_from(task.attempt).expect("positive") <= step(flows, task).failures
}

fn batch(function: &str, tasks: &[Task], values: &[String]) -> String {
    let list = |cell: fn(&Task) -> String| tasks.iter().map(cell).collect::<Vec<_>>().join(", ");
    format!(
        "select outcome from pgflow.{function}s(array[{}]::uuid[], array[{}], array[{}], array[{}], array[{}])",
        list(|task| format!("'{}'", task.run)),
        list(|task| format!("'{}'", task.step)),
        list(|task| task.index.to_string()),
        values.join(", "),
        list(|task| task.attempt.to_string()),
    )
}
