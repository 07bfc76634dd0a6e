//! Making schedules.

use std::future::IntoFuture;
use std::pin::Pin;

use pgflow_cron::Timetable;
use pgflow_machine::Timestamp;
use pgflow_machine::schedule::{Missed, Overlap, Put, ScheduleProblem, ScheduleSpec};
use serde_json::Value;

use super::ScheduleHandle;
use crate::backend::NewSchedule;
use crate::check::{Starts, Takes};
use crate::client::ClientError;
use crate::client::check::{input_of, payload_of};
use crate::db::{Db, program};
use crate::{DataError, FlowDef};

impl ScheduleHandle {
    /// Makes it start runs of this flow with this input, owned or borrowed: say when with [`cron`](Unscheduled::cron). If there is a
    /// schedule of this name, it is replaced.
    #[expect(clippy::needless_pass_by_value, reason = "an input may be owned")]
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn flow<F, I, G>(&self, _flow: F, input: G) -> Unscheduled where Db: Starts<F, I> + Takes<G, I> {
        let input = <Db as Starts<F, I>>::stored(<Db as Takes<G, I>>::taken(&input));
        Unscheduled { handle: self.clone(), flow: Started::Known(<Db as Starts<F, I>>::DEF), input }
    }

    /// As [`flow`](Self::flow), for the newest version of the flow of this name, which this program need not have code for. As with
    /// [`start_by_name`](Db::start_by_name), steps find out whether the input is what they take.
    pub fn flow_by_name(&self, flow: &str, input: Value) -> Unscheduled {
        let flow = Started::Named(flow.to_owned());
        Unscheduled { handle: self.clone(), flow, input: Ok(input) }
    }
}

/// What is to be started.
#[derive(Debug)]
enum Started {
    Known(&'static FlowDef),
    Named(String),
}

/// A schedule that nobody has said the time of: [`ScheduleHandle::flow`].
#[must_use = "a schedule needs a `.cron(…)`, and is made with `.await`"]
#[derive(Debug)]
pub struct Unscheduled {
    handle: ScheduleHandle,
    flow: Started,
    input: Result<Value, DataError>,
}

impl Unscheduled {
    /// When, as a cron expression of five fields, or of six with seconds first: `0 3 * * MON-FRI`.
    pub fn cron(self, cron: &str) -> CreateSchedule {
        let (flow, input) = (self.flow, self.input);
        let spec = ScheduleSpec::new("", cron);
        CreateSchedule { handle: self.handle, flow, input, spec, begins: None }
    }
}

/// A schedule that is made, or replaced, when this is awaited: it says which.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow(input = u8)] mod report { #[step] pub async fn write(run: u8) -> pgflow::Result<u8> { Ok(run) } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// # let db = pgflow::Db::connect("memory:").await?;
/// # db.register(report::Flow).await?;
/// use pgflow::schedule::{Missed, Overlap, Put};
///
/// let nightly = || db.schedule("nightly").flow(report::Flow, &7).cron("0 3 * * *");
/// assert_eq!(nightly().missed(Missed::All(7)).overlap(Overlap::Queue).await?, Put::Created);
/// assert_eq!(nightly().await?, Put::Replaced);
/// assert_eq!(nightly().await?, Put::Unchanged);
/// let wrong = nightly().timezone("Europe/Berln").await.unwrap_err();
/// assert_eq!(wrong.to_string(), "there is no time zone `Europe/Berln`: did you mean `Europe/Berlin`?");
/// # Ok(()) })
/// # }
/// ```
#[must_use = "a schedule is made with `.await`"]
#[derive(Debug)]
pub struct CreateSchedule {
    handle: ScheduleHandle,
    flow: Started,
    input: Result<Value, DataError>,
    spec: ScheduleSpec,
    begins: Option<Timestamp>,
}

impl CreateSchedule {
    /// The time zone in which the expression is meant; UTC if nothing is said.
    pub fn timezone(mut self, zone: &str) -> Self {
        zone.clone_into(&mut self.spec.zone);
        self
    }

    /// What becomes of moments that were missed; if nothing is said, the last one is made up for.
    pub fn missed(mut self, missed: Missed) -> Self {
        self.spec.missed = missed;
        self
    }

    /// What becomes of moments that come while a run goes on; if nothing is said, runs overlap.
    pub fn overlap(mut self, overlap: Overlap) -> Self {
        self.spec.overlap = overlap;
        self
    }

    /// No moment before this one counts. It must not be over, by the clock of the database.
    pub fn starting(mut self, begins: impl Into<Timestamp>) -> Self {
        self.begins = Some(begins.into());
        self
    }

    async fn create(self) -> Result<Put, ClientError> {
        let Self { handle: ScheduleHandle { db, name }, flow, input, mut spec, begins } = self;
        let timetable = Timetable::new(&spec.cron, &spec.zone)?;
        match flow {
            Started::Known(flow) => {
                spec.input = input_of(flow, input, &db.limits().await?)?;
                spec.compiled_for = Some(program(flow));
                flow.slug.clone_into(&mut spec.flow);
            }
            Started::Named(flow) => {
                (spec.input, spec.flow) = (payload_of(input, &db.limits().await?)?, flow);
            }
        }
        let first_at = begins.map(|begins| first_of(&timetable, begins)).transpose();
        let first_at =
            first_at.map_err(|source| ClientError::Schedule { name: name.clone(), source })?;
        db.put_schedule(NewSchedule { begins, first_at, ..NewSchedule::new(name, spec) }).await
    }
}

/// The first moment that counts. What is before 1970 is over by any clock, which the database says.
fn first_of(timetable: &Timetable, begins: Timestamp) -> Result<Timestamp, ScheduleProblem> {
    let first = timetable.after(begins.micros().max(0) - 1);
    first.map(Timestamp::from_micros).ok_or(ScheduleProblem::BeginsTooLate { begins })
}

impl IntoFuture for CreateSchedule {
    type Output = Result<Put, ClientError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.create())
    }
}
