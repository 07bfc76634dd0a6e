//! Steps that wait.

use std::process::{Command, id};
use std::time::Duration;

use pgflow::prelude::*;

/// The process ends here, as by `kill -9` from outside.
async fn die() {
    let killed = Command::new("kill").args(["-9", &id().to_string()]).status();
    killed.expect("there is a command `kill`");
    tokio::time::sleep(Duration::MAX).await;
}

/// The process ends here in a moment, whatever it does then.
fn die_in(moment: Duration) {
    std::thread::spawn(move || {
        std::thread::sleep(moment);
        let killed = Command::new("kill").args(["-9", &id().to_string()]).status();
        killed.expect("there is a command `kill`");
    });
}

/// Parents of this number and above let their first worker die when their handler has returned, not before.
pub(crate) const LATE: u32 = 10_000;
/// How long after that it may live, in milliseconds: long enough to say what the parent waits for.
const LATEST: u32 = 30;

#[flow(input = u32, timeout = 2, base_delay = 0, max_attempts = 20)]
pub(crate) mod kid {
    #[step]
    pub(crate) async fn double(run: u32) -> pgflow::Result<u32> {
        Ok(run * 2)
    }
}

#[flow(input = u32, timeout = 2, base_delay = 0, max_attempts = 20)]
pub(crate) mod parent {
    use super::*;

    /// Its first worker does not live to say what it waits for, or just so.
    #[step]
    pub(crate) async fn ask(run: u32, ctx: Context) -> Result<Waiting<kid::Output>> {
        let child = ctx.run(kid::Flow, run).await?;
        match ctx.attempt() {
            1 if run < LATE => die().await,
            1 => die_in(Duration::from_millis((run * 7 % (LATEST + 1)).into())),
            _ => {}
        }
        Ok(child.wait())
    }

    #[step(depends_on = [ask])]
    pub(crate) async fn told(ask: kid::Output) -> Result<u32> {
        Ok(ask.double)
    }
}

#[flow(input = u32)]
pub(crate) mod hooked {
    use super::*;

    #[step]
    pub(crate) async fn answer(run: u32) -> Result<Waiting<u32>> {
        Ok(Hook::named(format!("race-{run}"))?.wait())
    }
}

#[flow(input = u64, timeout = 2, base_delay = 0)]
pub(crate) mod patient {
    use super::*;

    #[step]
    pub(crate) async fn nap(run: u64, ctx: Context) -> Result<Waiting<()>> {
        Ok(ctx.sleep(Duration::from_secs(run)))
    }

    /// Much shorter than clocks are wrong by.
    #[step(wait_timeout = "30m", max_attempts = 1)]
    pub(crate) async fn answer(hook: Hook<u32>) -> Result<Waiting<u32>> {
        Ok(hook.wait())
    }
}
