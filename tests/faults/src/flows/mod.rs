//! What workers do in experiments.

#![allow(clippy::wildcard_imports, reason = "a flow's module belongs to the file around it")]

mod act;
mod app;
mod jobs;
mod ledger;
mod many;
pub(crate) mod pipelines;
mod pooled;
mod small;
mod trouble;
mod waits;
mod wide;

pub(crate) use act::{Act, single};
pub(crate) use app::{App, Pool};
pub(crate) use jobs::slips;
pub(crate) use ledger::{book, jot};
pub(crate) use many::{hold, listen, pass};
pub(crate) use pooled::{crowd, crowd_tx};
pub(crate) use small::{chain, diamond};
pub(crate) use trouble::{block, bulky, mail, promise, ship};
pub(crate) use waits::{LATE, hooked, kid, parent, patient};
pub(crate) use wide::{texts, twins};

use pgflow::{Db, Worker};

use crate::harness::Outcome;

/// Makes flows known by name, so that a process can be told which ones to serve.
macro_rules! kit {
    ($($flow:ident),+ $(,)?) => {
        /// Registers flows by their names.
        pub(crate) async fn register(db: &Db, flows: &[&str]) -> Outcome {
            for flow in flows {
                match *flow {
                    $(stringify!($flow) => db.register($flow::Flow).await?,)+
                    other => return Err(format!("there is no flow `{other}`").into()),
                };
            }
            Ok(())
        }

        /// A worker with one more flow.
        pub(crate) fn serve(worker: Worker, flow: &str, app: &App) -> Outcome<Worker> {
            match flow {
                $(stringify!($flow) => Ok(worker.flow($flow::Flow)),)+
                // A kind of job, which the database need not know.
                "slips" => Ok(worker.job(slips::Job)),
                other => pipelines::serve(worker, other, app)
                    .ok_or_else(|| format!("there is no flow `{other}`").into()),
            }
        }
    };
}

kit!(
    block, book, bulky, chain, crowd, crowd_tx, diamond, hold, hooked, jot, kid, listen, mail,
    parent, pass, patient, promise, ship, single, texts, twins
);
