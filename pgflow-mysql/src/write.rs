//! What commands decided, written with a few statements for all runs of a batch.

mod rows;
mod spawn;
mod tasks;

use std::collections::BTreeMap;
use std::ops::DerefMut;

use pgflow_machine::{Change, Effect, Rows, RunId, Writes};
use sqlx::MySqlConnection;

use crate::error::{Result, broken};
use crate::json_rows::{Hex, StepRow};
use crate::session::MySqlSession;
use rows::Written;
use spawn::Spawns;

pub(crate) async fn write<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    rows: &Rows,
    writes: Writes<'_>,
) -> Result<()> {
    // What is held is given up by itself.
    let Writes { started, cancelled, tasks, changes, given_up: _ } = writes;
    let outputs = tasks::write(session, &tasks).await?;
    let written = Written::new(session, rows, &started, &changes, &outputs)?;
    written.write(session, &started).await?;
    for (run, reason) in &cancelled {
        rows::set_reason(session, *run, *reason).await?;
    }
    effects(session, rows, &changes).await
}

/// A step that has lost its tasks gets no new ones in the same batch, so that all losses can come last.
async fn effects<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    rows: &Rows,
    changes: &BTreeMap<RunId, Change>,
) -> Result<()> {
    let (mut spawns, mut dropped, mut requeued) = (Spawns::default(), Vec::new(), Vec::new());
    for (run, change) in changes {
        let row = rows.runs.get(run).ok_or_else(|| broken("a run is gone"))?;
        let at = |step: usize| StepRow { run: Hex(*run), step };
        for effect in &change.effects {
            match effect {
                Effect::Spawn { step, tasks, from, delay } => {
                    spawns.spawn(session, (*run, row), (*step, *tasks, *from, *delay)).await?;
                }
                Effect::DropStep { step } => dropped.push(at(*step)),
                Effect::DropRun => dropped.extend((0..row.state.steps.len()).map(at)),
                Effect::Requeue { steps } => requeued.extend(steps.iter().map(|step| at(*step))),
                // It is in the run's row.
                Effect::Output { .. } => {}
            }
        }
    }
    spawns.flush(session).await?;
    tasks::requeue(session, &requeued).await?;
    tasks::drop_tasks(session, &dropped).await
}
