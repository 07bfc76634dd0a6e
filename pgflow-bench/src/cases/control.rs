//! The controls as cases of their own.

use super::{Case, Context};
use crate::controls::{insert, queue, update};
use crate::error::Result;
use crate::sample::Reading;

pub(super) async fn run(case: Case, context: &mut Context<'_>) -> Result<Vec<Reading>> {
    let duration = context.sizes.control;
    let target = &mut *context.target;
    let reading = match case {
        Case::Update => update::run(target, duration).await?,
        Case::Queue => queue::run(target, duration, context.batch).await?,
        _ => insert::run(target, duration).await?,
    };
    Ok(vec![reading])
}
