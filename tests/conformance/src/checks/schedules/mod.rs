//! Schedules, by what checks are about.

mod firing;
mod later;
mod making;
mod racing;
mod random;

use crate::Check;

/// All of them.
pub(super) const GROUPS: &[&[Check]] =
    &[making::CHECKS, firing::CHECKS, racing::CHECKS, later::CHECKS, random::CHECKS];
