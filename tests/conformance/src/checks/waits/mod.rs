//! Attempts that end by waiting, by what checks are about.

mod children;
mod ending;
mod hooks;
mod jobs;
mod keeping;
mod maps;
mod racing;
mod sleeping;
mod tokens;

use crate::Check;

/// All of them.
pub(super) const GROUPS: &[&[Check]] = &[
    hooks::CHECKS,
    tokens::CHECKS,
    sleeping::CHECKS,
    children::CHECKS,
    ending::CHECKS,
    jobs::CHECKS,
    maps::CHECKS,
    keeping::CHECKS,
    racing::CHECKS,
];
