//! Jobs, from the outside: submit them, look at them, steer them.

mod events;
mod find;
mod handle;
mod manage;
mod submit;
mod why;

pub use find::JobPage;
pub use handle::JobHandle;
pub use submit::Submit;
pub use why::{JobReason, JobWhy};

use super::ClientError;
use super::patience::patiently;
use crate::backend::{Backend, BackendError, JobUpkeep, Jobs, Pipelines, Reply};
use crate::db::Db;

/// What the database is asked about queues. It is asked again if it does not answer: a message has a name, and is pushed once.
pub(crate) async fn ask_pipelines<T: Send + 'static, A: Clone + Send + Sync + 'static>(
    db: &Db,
    about: A,
    call: impl for<'a> Fn(&'a dyn Pipelines, &'a A) -> Reply<'a, T> + Clone + Send + Sync + 'static,
) -> Result<T, ClientError> {
    let asked = patiently(db, move |backend: &dyn Backend| -> Reply<'_, T> {
        let (about, call) = (about.clone(), call.clone());
        Box::pin(async move {
            let queues: Result<&dyn Pipelines, BackendError> = backend.pipelines();
            call(queues?, &about).await
        })
    });
    Ok(asked.await?)
}

/// What the database is asked by those who look after jobs.
pub(crate) async fn ask_upkeep<T: Send + 'static, A: Clone + Send + Sync + 'static>(
    db: &Db,
    about: A,
    call: impl for<'a> Fn(&'a dyn JobUpkeep, &'a A) -> Reply<'a, T> + Clone + Send + Sync + 'static,
) -> Result<T, ClientError> {
    let asked = patiently(db, move |backend: &dyn Backend| -> Reply<'_, T> {
        let (about, call) = (about.clone(), call.clone());
        Box::pin(async move {
            let upkeep: Result<&dyn JobUpkeep, BackendError> = backend.job_upkeep();
            call(upkeep?, &about).await
        })
    });
    Ok(asked.await?)
}

/// What the database is asked about jobs. It is asked again if it does not answer.
async fn ask<T: Send + 'static, A: Clone + Send + Sync + 'static>(
    db: &Db,
    about: A,
    call: impl for<'a> Fn(&'a dyn Jobs, &'a A) -> Reply<'a, T> + Clone + Send + Sync + 'static,
) -> Result<T, ClientError> {
    let asked = patiently(db, move |backend: &dyn Backend| -> Reply<'_, T> {
        let (about, call) = (about.clone(), call.clone());
        Box::pin(async move {
            let jobs: Result<&dyn Jobs, BackendError> = backend.jobs();
            call(jobs?, &about).await
        })
    });
    Ok(asked.await?)
}
