//! The worker: claims tasks, runs handlers, records what they say.
//!
//! | file | concern |
//! |---|---|
//! | `builder`, `startup`, `concurrency`, `served` | what it is made of, and what is checked before the first task |
//! | `engine` | the one loop |
//! | `pace`, `slots`, `claiming` | when to claim, how much, and what comes of it |
//! | `settles`, `trip` | results gather while a batch is on its way; the next claim goes along |
//! | `lost_claim` | tasks of a claim whose answer got lost are given back |
//! | `attempt`, `task_input`, `transaction`, `verdict`, `span` | one attempt |
//! | `held`, `upkeep`, `sweep` | heartbeats, lost leases, tasks of workers that are gone |
//! | `shutdown`, `signals`, `report` | the end |
//! | `health`, `metrics`, `trouble`, `causes` | what can be seen from outside |

pub(crate) mod attempt;
mod builder;
mod causes;
mod claiming;
mod concurrency;
mod desk;
mod engine;
mod error;
mod health;
mod held;
mod lost_claim;
mod metrics;
mod pace;
mod report;
pub(crate) mod served;
mod settles;
mod shutdown;
mod signals;
mod slots;
mod span;
mod startup;
mod sweep;
pub(crate) mod task_input;
mod transaction;
mod trip;
mod trouble;
mod upkeep;
mod verdict;

pub use builder::Worker;
pub use error::WorkerError;
pub use health::{Health, HealthSnapshot, Phase};
pub use report::WorkerReport;
