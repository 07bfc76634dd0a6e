//! Starting runs.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::{Catalog, CompiledFor, Refusal, StartError, Turn};
use crate::{Command, Limits, Needs, NewRow, Rows, RunId, RunRow, Timestamp, Writes};

/// A run to start.
#[derive(Clone, Debug, PartialEq)]
pub struct NewRun {
    /// Name of the flow.
    pub flow: String,
    /// What it is given.
    pub input: Value,
    /// Its id. If there is a run of this id, that one is meant, and it keeps its own input.
    pub id: RunId,
    /// What the program was compiled for: the newest version that it fits is used, or the start refused with
    /// [`UnknownVersion`](Refusal::UnknownVersion). Without it, the newest version of all.
    pub compiled_for: Option<Arc<CompiledFor>>,
    /// When its first tasks may be claimed. The run is there before.
    pub begins: Begins,
}

/// When a run begins, by the clock of the database.
///
/// ```
/// use pgflow_machine::{Begins, Timestamp};
/// use std::time::Duration;
///
/// let (now, soon) = (Timestamp::from_micros(1_000_000), Timestamp::from_micros(3_000_000));
/// assert_eq!(Begins::At(soon).after(now), Duration::from_secs(2));
/// assert_eq!(Begins::At(now).after(soon), Duration::ZERO, "what is over is now");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Begins {
    /// At once.
    #[default]
    Now,
    /// After so long.
    After(Duration),
    /// At this moment.
    At(Timestamp),
}

impl Begins {
    /// How long it is until then.
    pub fn after(self, now: Timestamp) -> Duration {
        match self {
            Self::Now => Duration::ZERO,
            Self::After(delay) => delay,
            Self::At(moment) => now.saturating_until(moment),
        }
    }
}

impl NewRun {
    /// Of the newest version of a flow.
    pub fn new(flow: impl Into<String>, input: impl Into<Value>, id: RunId) -> Self {
        Self { flow: flow.into(), input: input.into(), id, compiled_for: None, begins: Begins::Now }
    }
}

/// What became of a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Started {
    /// The run began.
    Created,
    /// There was a run of this id.
    Existing,
}

/// Starts runs. One that is refused does not keep the others from starting.
#[derive(Clone, Debug)]
pub struct Start<'a> {
    /// The runs.
    pub runs: Vec<&'a NewRun>,
    /// The versions that there are.
    pub catalog: Arc<Catalog>,
    /// What payloads may be.
    pub limits: Limits,
}

impl Command for Start<'_> {
    type Answer = Vec<Result<Started, Refusal>>;

    fn needs(&self) -> Needs {
        Needs::of_runs(self.runs.iter().map(|new| new.id))
    }

    fn decide<'c>(
        &'c self,
        rows: &mut Rows,
        now: Timestamp,
    ) -> Result<(Self::Answer, Writes<'c>), Refusal> {
        let mut writes = Writes::default();
        let answers = self.runs.iter().map(|new| self.start(new, rows, now, &mut writes)).collect();
        Ok((answers, writes))
    }
}

impl<'a> Start<'a> {
    fn start<'c>(
        &self,
        new: &'a NewRun,
        rows: &mut Rows,
        now: Timestamp,
        writes: &mut Writes<'c>,
    ) -> Result<Started, Refusal>
    where
        'a: 'c,
    {
        if let Some(there) = rows.runs.get(&new.id) {
            let other = || Refusal::OtherFlow { run: new.id, flow: there.version.flow.clone() };
            return there.version.is_of(&new.flow).then_some(Started::Existing).ok_or_else(other);
        }
        let version = Arc::clone(self.catalog.to_start(new)?);
        let input = Arc::new(new.input.clone());
        let (state, mut change) = Turn::start(&version.plan, input, &self.limits)
            .map_err(|why| refusal(why, &new.flow))?;
        change.delay(new.begins.after(now));
        rows.runs.insert(new.id, RunRow { version, state });
        writes.started.push(NewRow { run: new.id, input: &new.input });
        writes.change(new.id, change);
        Ok(Started::Created)
    }
}

fn refusal(why: StartError, flow: &str) -> Refusal {
    match why {
        StartError::NotAnArray { found } => Refusal::NotAnArray { flow: flow.to_owned(), found },
        StartError::TooWide(source) => {
            Refusal::Payload { what: "the run's input".to_owned(), source }
        }
        StartError::NotLoaded(not_loaded) => not_loaded.into(),
    }
}
