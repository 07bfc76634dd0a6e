//! Stages that work on batches.

use std::fmt;
use std::sync::Arc;

use pgflow_machine::permit::BatchRule;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::code::{Call, InTx, StageCode, Work, Worked, called};
use super::dead::DeadMessage;
use super::items::Outcome;
use super::onward::{Emit, Onward, emit, undecodable};
use super::spec::{Permits, StageParts};
use super::{Batch, Items, OnFailure, Pipeline, PipelineSpec, Queue, Settled};
use crate::check::Emits;
use crate::data_error::{What, read};
use crate::tx::Tx;
use crate::worker::excuses::Excuse;

/// A pipeline that works on batches.
#[must_use = "a pipeline is given to a worker"]
pub struct Batched<T, U> {
    spec: PipelineSpec,
    need: &'static str,
    rule: BatchRule,
    permits: Permits,
    call: Call<Items<T>, Settled<U>>,
    takes_tx: bool,
    emits: Vec<Emit<U>>,
    on_failure: OnFailure,
}

impl<T, U> fmt::Debug for Batched<T, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Batched").field(&self.spec.name).finish()
    }
}

impl<T, U> Batched<T, U> {
    /// Of messages as they were pushed.
    pub(super) fn of_queue(
        pipeline: Pipeline<T>,
        batch: Batch<T>,
        call: Call<Items<T>, Settled<U>>,
        takes_tx: bool,
    ) -> Self {
        let Pipeline { mut spec, queue, permits } = pipeline;
        spec.has_late_key = batch.key.is_some();
        let (rule, need, on_failure) = (batch.rule, queue.name, queue.on_failure());
        let mut all = batch.permits;
        for (slug, units) in permits.resources {
            all.hold(slug, units);
        }
        all.rates.extend(permits.rates);
        all.concurrency = all.concurrency.or(permits.concurrency);
        all.lease = all.lease.or(permits.lease);
        all.prefetch = permits.prefetch;
        all.names_resources = permits.names_resources;
        Self { spec, need, rule, permits: all, call, takes_tx, emits: Vec::new(), on_failure }
    }

    /// Of what was processed.
    pub(super) fn of_values(
        spec: PipelineSpec,
        need: &'static str,
        batch: Batch<T>,
        call: Call<Items<T>, Settled<U>>,
        takes_tx: bool,
    ) -> Self {
        let (rule, permits, on_failure) = (batch.rule, batch.permits, OnFailure::Continue);
        Self { spec, need, rule, permits, call, takes_tx, emits: Vec::new(), on_failure }
    }

    /// Does something in the transaction in which a message of this pipeline becomes dead, as for
    /// [one by one](super::Processed::on_dead).
    pub fn on_dead<F>(mut self, function: F) -> Self
    where
        F: for<'t> Fn(DeadMessage, String, &'t mut Tx) -> InTx<'t, ()> + Send + Sync + 'static,
    {
        self.spec.on_dead = Some(Arc::new(function));
        self
    }
}

impl<T, U: 'static> Batched<T, U> {
    /// Pushes messages for each value, in the transaction that settles its batch: all of them, or none.
    // On one line, as the compiler shows it.
    #[rustfmt::skip]
    pub fn emit<V: Serialize + DeserializeOwned + 'static, I: Emits<V>>(mut self, queue: &Queue<V>, values: impl Fn(&U) -> I + Send + Sync + 'static) -> Self {
        self.emits.push(emit(queue, values));
        self
    }
}

impl<T: DeserializeOwned + Send + 'static, U: Serialize + Send + 'static> From<Batched<T, U>>
    for PipelineSpec
{
    fn from(pipeline: Batched<T, U>) -> Self {
        let Batched { mut spec, need, rule, permits, call, takes_tx, emits, on_failure } = pipeline;
        let onward = Arc::new(Onward { emits, batch: None, on_failure });
        let code: StageCode = Arc::new(move |batch| {
            let (call, onward) = (call.clone(), onward.clone());
            Box::pin(work(need, batch, call, onward))
        });
        let (batch, preload) = (Some(rule), None);
        spec.add(StageParts { need, permits, batch, code, preload, takes_tx, on_failure });
        spec
    }
}

/// Works on a batch. Messages that nobody can read are dead, and the others are a batch without them.
async fn work<T: DeserializeOwned, U: Serialize>(
    need: &'static str,
    work: Work,
    call: Call<Items<T>, Settled<U>>,
    onward: Arc<Onward<U>>,
) -> Worked {
    let Work { claimed, context, tx, .. } = work;
    let id = claimed.lease.batch.clone();
    let (mut values, mut ends) = (Vec::new(), Vec::new());
    for message in &claimed.messages {
        match read(What::Payload(need), &message.payload) {
            Ok(value) => {
                values.push(value);
                ends.push(None);
            }
            Err(error) => ends.push(Some(undecodable(&error))),
        }
    }
    let many = values.len();
    let items = Items::new(id.clone(), values, claimed.trigger);
    let settled = if many == 0 {
        Ok(items.release())
    } else {
        called(&call, items, context, tx.as_ref(), None).await
    };
    let is_other = |settled: &Settled<U>| settled.id != id || settled.outcomes.len() != many;
    let settled = match settled {
        Ok(settled) if is_other(&settled) => Err("what was settled is another batch".into()),
        settled => settled,
    };
    let (mut outcomes, error) = match settled {
        Ok(settled) => (settled.outcomes.into_iter(), None),
        Err(error) => (Vec::new().into_iter(), Some(error)),
    };
    // A batch that is given back was not worked on, whatever was written.
    let is_released = |outcome: &Outcome<U>| matches!(outcome, Outcome::Released);
    let is_well = error.is_none() && !outcomes.as_slice().iter().all(is_released);
    let end = |(end, message): (Option<_>, &crate::backend::ClaimedJob)| {
        end.unwrap_or_else(|| match (&error, outcomes.next()) {
            // The whole batch has failed: an attempt of each.
            (Some(error), _) => onward.failed(error, &message.taken.row),
            (None, outcome) => {
                onward.end(Ok(outcome.unwrap_or(Outcome::Released)), &message.taken.row)
            }
        })
    };
    let ends = ends.into_iter().zip(&claimed.messages).map(end).collect();
    Worked { ends, is_well, excuse: error.as_ref().and_then(Excuse::of_handler) }
}
