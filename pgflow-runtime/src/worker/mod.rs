//! The worker: claims work, runs attempts, records what comes of them. It knows no kind of work by name: what it can do is
//! a `Handler` each, such as the tasks of flows in `flow_handler`.
//!
//! | file | concern |
//! |---|---|
//! | `builder`, `startup`, `concurrency` | what it is made of, and what is checked before the first claim |
//! | `engine`, `thread`, `home`, `spawned` | the one loop, where it runs, and where attempts do |
//! | `handler` | what a kind of work says and is asked |
//! | `pace`, `slots`, `permit`, `claiming` | when to claim, how much, and what comes of it |
//! | `taking` | what attempts take besides a slot |
//! | `ahead` | what was claimed before there was room for it |
//! | `kinds`, `stages` | tasks, jobs and messages in one trip |
//! | `settles`, `refused`, `trip` | results gather while a batch is on its way; the next claim goes along |
//! | `lost_claim` | tasks of a claim whose answer got lost are given back |
//! | `attempt`, `verdict` | an attempt while it runs |
//! | `running`, `leases`, `upkeep`, `sweep` | heartbeats, lost leases, tasks of workers that are gone |
//! | `pulse`, `watchdog` | handlers that block their thread |
//! | `shutdown`, `signals`, `exit`, `report` | the end |
//! | `excuses` | attempts that meet a database in trouble |
//! | `health`, `metrics`, `backlog`, `trouble` | what can be seen from outside |
//! | `retention` | runs that ended long ago are deleted |

mod ahead;
mod attempt;
mod backlog;
mod builder;
mod claiming;
mod concurrency;
mod engine;
mod error;
pub(crate) mod excuses;
mod exit;
mod handler;
mod health;
mod home;
mod kinds;
mod leases;
mod lost_claim;
pub(crate) mod metrics;
mod pace;
mod permit;
mod pulse;
mod refused;
mod report;
mod retention;
mod running;
mod settles;
mod shutdown;
mod signals;
mod slots;
mod spawned;
mod stages;
mod startup;
mod sweep;
pub(crate) mod taking;
mod thread;
mod ticks;
mod trip;
mod trouble;
mod upkeep;
mod verdict;
mod watchdog;

pub(crate) use crate::backend::LEASE;
pub(crate) use handler::{Ended, Handler, Label, Prepared, Signals};
pub(crate) use permit::{InUse, Permit};
pub(crate) use pulse::Pulse;
pub(crate) use trouble::LogLimit;
pub(crate) use verdict::{panic_text, panicked, tidy};

pub use builder::Worker;
pub use error::WorkerError;
pub use health::{Health, HealthSnapshot, Phase};
pub use report::WorkerReport;
pub use spawned::WorkerHandle;
pub(crate) use startup::persistently;
