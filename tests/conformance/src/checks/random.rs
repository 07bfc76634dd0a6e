//! Random commands, compared with memory.

use std::sync::Arc;

use crate::Check;
use crate::check::check;
use crate::differential::{compare_on, seed_from_env};
use crate::kit::Cx;

pub(crate) const CHECKS: &[Check] =
    &[check!("C70", "random commands lead to what they lead to in memory", same_as_memory)];

/// A few here; `tests/differential.rs` plays many.
async fn same_as_memory(cx: Arc<Cx>) {
    let (seed, count) = (seed_from_env(), cx.rounds(8, 400) as u64);
    if let Err(difference) = compare_on(cx.backend().name(), cx.database(), seed, count).await {
        panic!("{difference}");
    }
}
