//! Mutations of `pgflow-machine`, by its rooms.

mod flow;
mod job;
mod log;
mod permit;
mod schedule;
mod wait;
mod work;

use crate::mutants::mutation::Mutation;

pub(super) const ROOMS: &[&[Mutation]] =
    &[flow::ALL, work::ALL, job::ALL, wait::ALL, log::ALL, permit::ALL, schedule::ALL];
