//! Small flows whose steps say when they begin.

use pgflow::prelude::*;

use super::App;
use crate::harness::What;

#[flow(input = u32, timeout = 2, base_delay = 1, max_attempts = 9)]
pub(crate) mod chain {
    use super::*;

    #[step]
    pub(crate) async fn one(run: u32, ctx: Context, app: State<App>) -> Result<u32> {
        note(&ctx, &app)?;
        Ok(run)
    }

    #[step(depends_on = [one])]
    pub(crate) async fn two(one: u32, ctx: Context, app: State<App>) -> Result<u32> {
        note(&ctx, &app)?;
        Ok(one + 1)
    }

    #[step(depends_on = [two])]
    pub(crate) async fn three(two: u32, ctx: Context, app: State<App>) -> Result<u32> {
        note(&ctx, &app)?;
        Ok(two + 1)
    }
}

#[flow(input = u32, timeout = 2, base_delay = 1, max_attempts = 9)]
pub(crate) mod diamond {
    use super::*;

    #[step]
    pub(crate) async fn top(run: u32, ctx: Context, app: State<App>) -> Result<u32> {
        note(&ctx, &app)?;
        Ok(run)
    }

    #[step(depends_on = [top])]
    pub(crate) async fn left(top: u32, ctx: Context, app: State<App>) -> Result<u32> {
        note(&ctx, &app)?;
        Ok(top + 1)
    }

    #[step(depends_on = [top])]
    pub(crate) async fn right(top: u32, ctx: Context, app: State<App>) -> Result<u32> {
        note(&ctx, &app)?;
        Ok(top + 2)
    }

    #[step(depends_on = [left, right])]
    pub(crate) async fn end(left: u32, right: u32, ctx: Context, app: State<App>) -> Result<u32> {
        note(&ctx, &app)?;
        Ok(left + right)
    }
}

fn note(ctx: &Context, app: &App) -> Result<()> {
    Ok(app.journal.note(What::Entered, ctx)?)
}
