//! Streams, by what checks are about.

mod appending;
mod ending;
mod generations;
mod keeping;
mod racing;
mod random;
mod reading;

use crate::Check;

/// All of them.
pub(super) const GROUPS: &[&[Check]] = &[
    appending::CHECKS,
    reading::CHECKS,
    ending::CHECKS,
    generations::CHECKS,
    racing::CHECKS,
    keeping::CHECKS,
    random::CHECKS,
];
