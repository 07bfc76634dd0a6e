//! What one verdict leads to.

use std::time::Duration;

use pgflow_machine::job::Moment;
use pgflow_machine::wait::{Awaited, NewWait};
use pgflow_machine::{
    Beat, Command, Heartbeat, Limits, Retry, Rows, Settle, SettleBatch, Settled, Until, Verdict,
};
use serde_json::json;

use crate::case::{Case, NOW, task_ref};

/// Verdicts, then the heartbeat.
pub(crate) const COLUMNS: [&str; 7] =
    ["completed", "failed", "fatal", "released", "yielded", "waits", "heartbeat"];

/// A cell per column: the answer and, if that changed, what the task, its step and its run are now.
pub(crate) fn row(case: &Case) -> Vec<String> {
    let verdicts = [
        Verdict::Completed(json!(1)),
        Verdict::Failed { error: "no".into(), retry: Retry::ByPolicy },
        Verdict::Failed { error: "no".into(), retry: Retry::Never },
        Verdict::Released,
        Verdict::Yielded { until: Until::After(Duration::from_secs(5)), reason: "busy".into() },
        Verdict::Yielded { until: Until::Met(Box::new(sleep())), reason: String::new() },
    ];
    let settled = verdicts.into_iter().map(|verdict| settle(case, verdict));
    settled.chain([beat(case)]).collect()
}

fn sleep() -> NewWait {
    NewWait::on(Awaited::Sleep(Moment::In(Duration::from_secs(5))))
}

fn settle(case: &Case, verdict: Verdict) -> String {
    let settles = [Settle { lease: case.lease().into(), verdict }];
    let batch = SettleBatch { settles: &settles, limits: Limits::default() };
    let (answers, statuses) = decide(case, &batch);
    let word = match answers[0] {
        Settled::Applied => "applied",
        Settled::Fenced => "fenced",
        Settled::AlreadySettled => "already_settled",
        Settled::RunEnded => "run_ended",
        Settled::Unknown => "unknown",
    };
    word.to_owned() + &statuses
}

fn beat(case: &Case) -> String {
    let leases = [case.lease().into()];
    let (answers, statuses) = decide(case, &Heartbeat { leases: &leases });
    let word = match answers[0] {
        Beat::Extended => "extended",
        Beat::Lost => "lost",
        Beat::Cancelled => "cancelled",
    };
    word.to_owned() + &statuses
}

fn decide<C: Command>(case: &Case, command: &C) -> (C::Answer, String) {
    let mut rows = case.rows();
    let before = statuses(&rows);
    let (answer, writes) = command.decide(&mut rows, NOW).expect("a decision");
    for write in &writes.tasks {
        rows.tasks.insert(write.at, write.row);
    }
    let after = statuses(&rows);
    (answer, if after == before { String::new() } else { format!(">{after}") })
}

fn statuses(rows: &Rows) -> String {
    let at = task_ref();
    let state = &rows.runs[&at.run].state;
    let task = rows.tasks.get(&at).map_or("none", |row| row.status.word());
    format!("{task}/{}/{}", state.steps[0].status.word(), state.status.word())
}
