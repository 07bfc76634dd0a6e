//! One call of a need's function.

use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;

use super::{Ending, JobContext, Need, Next};
use crate::__private::Returned;
use crate::{Context, Error, States, Task};

/// A need's function, behind JSON.
pub type NeedCall = fn(&JobTask) -> CalledNeed;

/// What a call of a need returns, or why it could not be called.
pub type CalledNeed = Result<Pin<Box<dyn Future<Output = Result<Ending, Error>> + Send>>, Error>;

/// What a need's function is called with.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[job] mod ping { use super::*; #[need] pub async fn pong(job: u8) -> Result<Next> { Ok(Next::done(job + 1)) } }
/// use pgflow::job::{Ending, JobContext, JobTask, Need as _};
/// use serde_json::json;
///
/// # fn main() -> Result<()> {
/// let task = JobTask::new(JobContext::for_test(), json!(7));
/// let ending = pgflow::testing::block_on((ping::pong::DEF.call)(&task)?)?;
/// assert_eq!(ending, Ending::Done(json!(8)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct JobTask {
    context: JobContext,
    payload: Arc<Value>,
    task: Task,
}

impl JobTask {
    /// With this payload.
    pub fn new(context: JobContext, payload: impl Into<Arc<Value>>) -> Self {
        let id = Arc::from(context.job_id().as_str());
        let task = Task::new(Context::new(id, "job", "need"));
        Self { context, payload: payload.into(), task }
    }

    /// The same with application state.
    #[must_use]
    pub fn with_states(self, states: States) -> Self {
        Self { task: self.task.with_states(states), ..self }
    }

    #[cfg(feature = "engine")]
    pub(crate) fn with_tx(self, tx: crate::tx::TxSlot) -> Self {
        Self { task: self.task.with_tx(tx), ..self }
    }

    /// What the need knows about the job.
    pub fn context(&self) -> &JobContext {
        &self.context
    }

    /// State and transaction are found where steps find them.
    #[doc(hidden)]
    pub fn task(&self) -> &Task {
        &self.task
    }
}

/// The payload of a job, as its need takes it. One that can't be read now can't be later.
#[doc(hidden)]
pub fn payload<N: Need>(task: &JobTask) -> Result<N::Payload, Error> {
    ((N::KEPT)().read)(&task.payload).map_err(Error::fatal)
}

/// A future that ends in what comes next.
#[doc(hidden)]
pub fn need_future<R: 'static, T: 'static, E: 'static, J: 'static>(
    returned: Returned<R>,
    into_result: fn(R) -> Result<T, E>,
    next: fn(T) -> Next<J>,
    report: fn(E) -> Error,
) -> CalledNeed {
    Ok(Box::pin(async move {
        let next = next(into_result(Box::into_pin(returned).await).map_err(report)?);
        // The same value would be refused again.
        next.into_ending().map_err(Error::fatal)
    }))
}
