//! Does the tasks of a flow in random order, one by one and in batches.

use serde_json::Value;

use super::model::Flow;
use crate::harness::{Db, Random, Task, lit};

/// Until there is nothing left to claim.
pub(super) async fn drain(db: &Db, flow: &Flow, random: &mut Random) {
    let mut held: Vec<Task> = Vec::new();
    for _ in 0..2000 {
        let quantity = u32::try_from(1 + random.below(6)).expect("small");
        held.extend(db.claim_up_to(&flow.slug, quantity).await);
        if held.is_empty() {
            return;
        }
        random.shuffle(&mut held);
        let kept = random.below(held.len());
        let mut settled = held.split_off(kept);
        let failing = settled.extract_if(.., |task| fails(flow, task)).collect::<Vec<_>>();
        fail(db, &failing, random).await;
        complete(db, flow, &settled, random).await;
    }
    panic!("there is always something left");
}

fn fails(flow: &Flow, task: &Task) -> bool {
    u64::try_from(task.attempt).expect("positive") <= flow.step(&task.step).failures
}

async fn complete(db: &Db, flow: &Flow, tasks: &[Task], random: &mut Random) {
    let outputs: Vec<Value> =
        tasks.iter().map(|task| flow.step(&task.step).output(&task.input)).collect();
    if random.chance(50) {
        for (task, output) in tasks.iter().zip(outputs) {
            let value = lit(&output.to_string());
            db.run(&format!(
                "select pgflow.complete_task({}, {value}, {})",
                key(task),
                task.attempt
            ))
            .await;
        }
    } else if !tasks.is_empty() {
        let values: Vec<_> =
            outputs.iter().map(|output| format!("{}::jsonb", lit(&output.to_string()))).collect();
        settle(db, "complete_tasks", tasks, &values).await;
    }
}

async fn fail(db: &Db, tasks: &[Task], random: &mut Random) {
    if random.chance(50) {
        for task in tasks {
            db.run(&format!("select pgflow.fail_task({}, 'boom', {})", key(task), task.attempt))
                .await;
        }
    } else if !tasks.is_empty() {
        settle(db, "fail_tasks", tasks, &vec!["'boom'".to_owned(); tasks.len()]).await;
    }
}

fn key(task: &Task) -> String {
    format!("'{}', '{}', {}", task.run, task.step, task.index)
}

async fn settle(db: &Db, function: &str, tasks: &[Task], values: &[String]) {
    let list = |cell: fn(&Task) -> String| tasks.iter().map(cell).collect::<Vec<_>>().join(", ");
    let outcomes = db
        .rows(&format!(
            "select outcome from pgflow.{function}(array[{}]::uuid[], array[{}], array[{}], array[{}], array[{}])",
            list(|task| format!("'{}'", task.run)),
            list(|task| format!("'{}'", task.step)),
            list(|task| task.index.to_string()),
            values.join(", "),
            list(|task| task.attempt.to_string()),
        ))
        .await;
    assert_eq!(outcomes.len(), tasks.len());
}
