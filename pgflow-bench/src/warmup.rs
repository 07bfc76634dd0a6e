//! Lets every connection plan its statements before anything is measured.

use crate::args::Protocol;
use crate::cases::{Case, Context};
use crate::error::Result;
use crate::size::{Mode, Sizes};
use crate::target::Target;

/// Runs small diamonds and maps in every way that will be measured.
pub(crate) async fn warm(target: &mut Target, protocols: &[Protocol], seed: u64) -> Result<()> {
    let sizes = Mode::Smoke.sizes();
    for &protocol in protocols {
        // Small batches, so that every connection gets some.
        let mut context = Context { target, sizes: &sizes, protocol, batch: 2, seed };
        for case in [Case::Diamond, Case::Map] {
            case.run(&mut context).await?;
        }
    }
    crate::cleanup::flows(target).await?;
    warm_jobs(target, &sizes, seed).await
}

async fn warm_jobs(target: &mut Target, sizes: &Sizes, seed: u64) -> Result<()> {
    for protocol in target.abilities.of_jobs() {
        let mut context = Context { target: &mut *target, sizes, protocol, batch: 2, seed };
        for case in [Case::JobSubmit, Case::JobCycle] {
            case.run(&mut context).await?;
        }
    }
    crate::cleanup::jobs(target).await
}
