//! A step that does what the run says, and one after it.

use std::time::Duration;

use pgflow::prelude::*;

use super::App;
use crate::harness::What;

/// What the step does.
#[data]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Act {
    /// Each attempt completes when its gate is open.
    Gate,
    /// The first attempt fails when its gate is open; others complete when theirs is.
    GateFirstFails,
    /// Takes the process with it.
    Abort,
}

/// Who did it.
#[data]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Worked {
    pub(crate) pid: u32,
    pub(crate) attempt: u32,
}

#[flow(input = Act, timeout = 1, base_delay = 1, max_attempts = 9)]
pub(crate) mod single {
    use super::*;

    #[step]
    pub(crate) async fn work(run: Act, ctx: Context, app: State<App>) -> Result<Worked> {
        act(run, &ctx, &app)
    }

    #[step(depends_on = [work])]
    pub(crate) async fn after(work: Worked, ctx: Context, app: State<App>) -> Result<u32> {
        app.journal.note(What::Entered, &ctx)?;
        Ok(work.attempt)
    }
}

fn act(act: Act, ctx: &Context, app: &App) -> Result<Worked> {
    app.journal.note(What::Entered, ctx)?;
    match act {
        Act::Abort => std::process::abort(),
        Act::Gate | Act::GateFirstFails => pass_gate(ctx.attempt(), app),
    }
    app.journal.note(What::Left, ctx)?;
    if act == Act::GateFirstFails && ctx.attempt() == 1 {
        return Err("the first attempt fails".into());
    }
    Ok(Worked { pid: std::process::id(), attempt: ctx.attempt() })
}

/// Blocks the thread, so that neither the timeout nor an abort gets a chance before the gate is open: this is a
/// handler that comes back late, however long that takes.
fn pass_gate(attempt: u32, app: &App) {
    while !app.is_open(&format!("gate-{attempt}")) {
        std::thread::sleep(Duration::from_millis(1));
    }
}
