//! Steps that end later than their functions: they wait for somebody, for a while, for runs, or for jobs.

mod child;
mod context;
mod hook;
#[cfg(feature = "engine")]
mod jobs;
mod outcome;

use std::fmt;
use std::marker::PhantomData;

use pgflow_machine::job::{Moment, NewJob};
use pgflow_machine::wait::HookToken;
use serde_json::Value;

pub use child::{ChildRun, ChildRuns};
pub use hook::Hook;
#[cfg(feature = "engine")]
pub use jobs::{ChildJob, ChildJobs};
pub use outcome::{ChildError, ChildStatus, Outcome};

use crate::FlowDef;

/// What a step returns whose attempt ends by waiting: for an answer ([`Hook`]), for a while ([`Context::sleep`]), for runs of
/// flows ([`Context::run`]), or for jobs. `T` is what the step puts out once it is there, and what its dependents take.
///
/// A task that waits holds nothing: no worker, no lease, no connection. It can wait for years.
///
/// ```
/// use pgflow::prelude::*;
/// use pgflow::testing::Sim;
/// use std::time::Duration;
///
/// #[flow(input = String)]
/// mod article {
///     use super::*;
///
///     #[step(wait_timeout = "7d")]
///     pub async fn approval(run: String, hook: Hook<bool>) -> Result<Waiting<bool>> {
///         println!("may we publish {run}? {}", hook.token());
///         Ok(hook.wait())
///     }
///
///     #[step(depends_on = [approval])]
///     pub async fn cool_down(approval: bool, ctx: Context) -> Result<Waiting<()>> {
///         Ok(ctx.sleep(Duration::from_secs(if approval { 3_600 } else { 0 })))
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let mut sim = Sim::new().flow(article::Flow);
/// let run = sim.start(article::Flow, &"Waits".to_owned())?;
/// sim.run_ready();
/// sim.signal::<article::approval>(&run, &true)?;
/// sim.run_until_idle();
/// assert!(sim.status(&run).has_ended());
/// # Ok(())
/// # }
/// ```
///
/// [`Context::sleep`]: crate::Context::sleep
/// [`Context::run`]: crate::Context::run
#[must_use = "a step returns what it waits for"]
pub struct Waiting<T> {
    wait: Wait,
    of: PhantomData<fn() -> T>,
}

impl<T> Waiting<T> {
    pub(crate) fn new(wait: Wait) -> Self {
        Self { wait, of: PhantomData }
    }

    pub(crate) fn into_wait(self) -> Wait {
        self.wait
    }
}

/// As people read it.
///
/// ```
/// use pgflow::prelude::*;
/// use std::time::Duration;
///
/// let waiting: Waiting<()> = Context::for_test().sleep(Duration::from_secs(60));
/// assert_eq!(format!("{waiting:?}"), "Waiting(for 60s)");
/// ```
impl<T> fmt::Debug for Waiting<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Waiting({})", self.wait.on)
    }
}

/// What an attempt ends by waiting for, before anything of it is recorded.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Wait {
    pub(crate) on: On,
    /// Failures are part of the output.
    pub(crate) outcomes: bool,
    /// What it waits for goes on if the run does not.
    pub(crate) detached: bool,
}

/// What is waited for.
#[derive(Clone, Debug)]
pub(crate) enum On {
    #[cfg_attr(
        not(feature = "engine"),
        expect(dead_code, reason = "tests without the engine need no token")
    )]
    Hook(HookToken),
    Sleep(Moment),
    Runs {
        flow: &'static FlowDef,
        inputs: Vec<Value>,
        /// One output per run, or that of the only one.
        each: bool,
    },
    #[cfg_attr(not(feature = "engine"), expect(dead_code, reason = "needs are part of the engine"))]
    Jobs {
        jobs: Vec<NewJob>,
        each: bool,
    },
}

impl Wait {
    pub(crate) fn on(on: On) -> Self {
        Self { on, outcomes: false, detached: false }
    }
}

impl fmt::Display for On {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hook(_) => f.write_str("for an answer"),
            Self::Sleep(Moment::In(time)) => write!(f, "for {time:?}"),
            Self::Sleep(Moment::At(moment)) => write!(f, "until {moment:?}"),
            Self::Runs { flow, each: false, .. } => write!(f, "for a run of `{}`", flow.slug),
            Self::Runs { flow, inputs, .. } => {
                write!(f, "for {} runs of `{}`", inputs.len(), flow.slug)
            }
            Self::Jobs { each: false, .. } => f.write_str("for a job"),
            Self::Jobs { jobs, .. } => write!(f, "for {} jobs", jobs.len()),
        }
    }
}
