//! Worker and client, on every backend: one binary, so that it is linked once and its servers are started once.

mod blocked;
mod cancel;
mod client;
mod dropped_starts;
mod edges;
mod ended_transactions;
mod held_back;
mod idle;
mod jobs;
mod key_lock;
mod lost_claims;
mod outage;
mod outcomes;
mod programs;
mod refusals;
mod retention;
mod shutdown;
mod sign_off;
mod slots;
mod starts;
mod transactions;
mod trouble;
mod waiting;
mod website;
mod write_lock;
