//! Which cases to run.

use crate::args::Args;
use crate::cases::Case;
use crate::error::{BenchError, Result};
use crate::worker::WorkerCase;

/// The cases of a run.
pub(crate) struct Chosen {
    pub(crate) core: Vec<Case>,
    pub(crate) worker: Vec<WorkerCase>,
}

impl Chosen {
    /// The cases whose names start with one of those asked for; all without any.
    pub(crate) fn of(args: &Args) -> Result<Self> {
        if args.is_for_workers() && args.in_place {
            return Err(BenchError::InPlace);
        }
        let wanted = &args.cases;
        if let Some(name) =
            wanted.iter().find(|name| !names().any(|known| known.starts_with(*name)))
        {
            return Err(BenchError::UnknownCase { name: name.clone() });
        }
        let is_wanted =
            |name: &str| wanted.is_empty() || wanted.iter().any(|w| name.starts_with(w));
        let core = Case::ALL.into_iter().filter(|case| is_wanted(case.name()));
        // Only Postgres has the SQL core.
        let core = core.filter(|_| !args.is_for_workers()).collect();
        let worker = WorkerCase::ALL.into_iter().filter(|case| is_wanted(case.name())).collect();
        Ok(Self { core, worker })
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    all().map(|(name, _)| name)
}

/// Names and descriptions of all cases.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    let core = Case::ALL.into_iter().map(|case| (case.name(), case.about()));
    core.chain(WorkerCase::ALL.into_iter().map(|case| (case.name(), case.about())))
}
