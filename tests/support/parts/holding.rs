//! A message and a task that hold a resource, and what breaks that. Part of the tests of SQLite and of those of MySQL.

use pgflow_machine::WorkerId;
use pgflow_machine::job::{JobId, NewJob};
use pgflow_machine::permit::{Columns, Message, Stage};
use pgflow_runtime::backend::{Pipelines, StageClaim, StepClaim};

/// What breaks it, and what is said then. Everything is put back after that.
pub(crate) const BREAKS: [(&str, &str, &str); 4] = [
    (
        "update pgflow_permit_holds set units = 2 where batch <> ''",
        "update pgflow_permit_holds set units = 1 where batch <> ''",
        "units are held",
    ),
    (
        "update pgflow_task_holds set units = 9",
        "update pgflow_task_holds set units = 1",
        "units are held",
    ),
    (
        "update pgflow_permit_holds set token = concat('x', token)",
        "update pgflow_permit_holds set token = substr(token, 2)",
        "is worked on without",
    ),
    (
        "update pgflow_task_holds set resource = 'none'",
        "update pgflow_task_holds set resource = 'gpu'",
        "holds what is no resource",
    ),
];

fn holding(name: &str) -> Message {
    let id: JobId = name.parse().expect("a name");
    let columns = Columns { resources: [("gpu".to_owned(), 1)].into(), ..Columns::default() };
    Message { columns, ..NewJob::new(id, "q", ()).into() }
}

/// A message and a task hold a unit each of a resource that has two.
pub(crate) async fn hold(queues: &dyn Pipelines, flow: &str) {
    queues.set_capacity("gpu", 2).await.expect("a resource");
    queues.push(&[holding("a"), holding("b")], "producer").await.expect("messages");
    let claimed = queues.claim_stage(&StageClaim::new("worker", "q", 1)).await.expect("a claim");
    assert_eq!(claimed.batches.len(), 1);
    let stage = Stage { resources: [("gpu".to_owned(), 1)].into(), ..Stage::default() };
    let (worker, others) = (WorkerId::new(), Vec::new());
    let (flow, step) = (flow.to_owned(), "s0".to_owned());
    let claim = StepClaim { worker, flow, step, others, max: 9, stage };
    assert_eq!(queues.claim_step(&claim).await.expect("a claim").tasks.len(), 1);
}
