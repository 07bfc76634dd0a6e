//! Jobs, by what checks are about.

mod claiming;
mod forking;
mod keys;
mod lapsing;
mod looking;
mod lost;
mod operating;
mod racing;
mod reading;
mod settling;
mod submitting;
mod trips;
mod waiting;

use crate::Check;

/// All of them.
pub(super) const GROUPS: &[&[Check]] = &[
    submitting::CHECKS,
    claiming::CHECKS,
    settling::CHECKS,
    lapsing::CHECKS,
    keys::CHECKS,
    waiting::CHECKS,
    operating::CHECKS,
    reading::CHECKS,
    looking::CHECKS,
    forking::CHECKS,
    lost::CHECKS,
    racing::CHECKS,
    trips::CHECKS,
];
