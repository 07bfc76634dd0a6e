//! Jobs: what their workers do in experiments.

use std::time::Duration;

use pgflow::prelude::*;

use super::App;
use super::app::write_in;
use crate::harness::What;

/// Slips of paper.
#[job]
pub(crate) mod slips {
    use super::*;

    /// With `tx`: effects happen exactly once.
    #[need(lease = 2, base_delay = 0)]
    pub(crate) async fn book(
        job: u32,
        ctx: JobContext,
        app: State<App>,
        tx: &mut Tx,
    ) -> Result<Next> {
        app.journal.note_job(What::Entered, &ctx)?;
        write_in(tx, job, ctx.attempt()).await?;
        pause(job).await;
        Ok(Next::done(job))
    }

    /// The control: the effect is there before the end is recorded.
    #[need(lease = 2, base_delay = 0)]
    pub(crate) async fn jot(job: u32, ctx: JobContext, app: State<App>) -> Result<Next> {
        app.journal.note_job(What::Entered, &ctx)?;
        app.write(job, ctx.attempt()).await?;
        pause(job).await;
        Ok(Next::done(job))
    }

    /// Each attempt ends when its gate is open. It blocks its thread: this is a handler that comes back late.
    #[need(lease = 2)]
    pub(crate) async fn gate(ctx: JobContext, app: State<App>) -> Result<Next> {
        app.journal.note_job(What::Entered, &ctx)?;
        while !app.is_open(&format!("gate-{}", ctx.attempt())) {
            std::thread::sleep(Duration::from_millis(1));
        }
        app.journal.note_job(What::Left, &ctx)?;
        Ok(Next::done(ctx.attempt()))
    }

    /// Says when it is at work, and goes on to the other one.
    #[need(lease = 2, base_delay = 0)]
    pub(crate) async fn alone(job: u32, ctx: JobContext, app: State<App>) -> Result<Next> {
        at_work(&ctx, &app).await?;
        Ok(if job == 0 { Next::done(0) } else { Next::to::<beside>(job - 1) })
    }

    /// As [`alone`]: a key is one for all needs.
    #[need(lease = 2, base_delay = 0)]
    pub(crate) async fn beside(job: u32, ctx: JobContext, app: State<App>) -> Result<Next> {
        at_work(&ctx, &app).await?;
        Ok(if job == 0 { Next::done(0) } else { Next::to::<alone>(job - 1) })
    }
}

/// So long that workers which could take a job of the same key would do so meanwhile.
async fn at_work(ctx: &JobContext, app: &App) -> Result<()> {
    app.journal.note_job(What::Entered, ctx)?;
    tokio::time::sleep(Duration::from_millis(50)).await;
    app.journal.note_job(What::Left, ctx)?;
    Ok(())
}

/// Time to be killed in.
async fn pause(item: u32) {
    tokio::time::sleep(Duration::from_millis(u64::from(item % 8))).await;
}
