//! Inputs of runs, for the tasks of maps that take them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use pgflow_machine::RunId;
use serde_json::Value;
use tokio::sync::OnceCell;

use crate::backend::{BackendError, Reply};

/// So many are enough, since tasks of a run come together.
const MOST: usize = 64;

type Input = Arc<OnceCell<Arc<Value>>>;

/// Inputs that were read. Tasks of one run that ask at the same time share one read.
#[derive(Debug, Default)]
pub(super) struct RunInputs(Mutex<HashMap<RunId, Input>>);

impl RunInputs {
    /// The input of a run. A read that fails is made again by the next who asks.
    pub(super) async fn of<'a>(
        &self,
        run: RunId,
        read: impl FnOnce() -> Reply<'a, Option<Value>>,
    ) -> Result<Arc<Value>, BackendError> {
        let input = self.cell(run);
        let read = async || Ok(Arc::new(read().await?.unwrap_or_default()));
        input.get_or_try_init(read).await.cloned()
    }

    fn cell(&self, run: RunId) -> Input {
        let mut inputs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if inputs.len() >= MOST && !inputs.contains_key(&run) {
            inputs.clear();
        }
        inputs.entry(run).or_default().clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use futures_util::future::join_all;
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn a_run_is_read_once_however_many_tasks_ask() {
        let (inputs, reads) = (RunInputs::default(), AtomicU32::new(0));
        let run = RunId::new();
        let ask = || {
            inputs.of(run, || {
                reads.fetch_add(1, Ordering::Relaxed);
                Box::pin(async {
                    tokio::task::yield_now().await;
                    Ok(Some(json!("in")))
                })
            })
        };
        let asked = join_all((0..100).map(|_| ask())).await;
        assert!(asked.iter().all(|input| matches!(input, Ok(input) if **input == "in")));
        assert_eq!(reads.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn a_read_that_failed_is_made_again() {
        let inputs = RunInputs::default();
        let run = RunId::new();
        let failed = inputs.of(run, || Box::pin(async { Err(BackendError::Closed) })).await;
        assert!(failed.is_err());
        let read = inputs.of(run, || Box::pin(async { Ok(Some(json!(1))) })).await;
        assert_eq!(*read.expect("read again"), 1);
    }
}
