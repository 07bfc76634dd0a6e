//! Taking work.

mod claim_tasks;
mod foreign_messages;
mod input;
mod older_transaction;
mod poll_for_tasks;
mod quotas;
mod set_vt_batch;
mod start_tasks;
mod visibility;
mod wide_claims;
mod worker;
