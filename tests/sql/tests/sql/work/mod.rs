//! Taking work.

mod claim_tasks;
mod fair;
mod foreign_messages;
mod foreign_queues;
mod heavy;
mod input;
mod linear;
mod older_transaction;
mod part_of_map;
mod poll_for_tasks;
mod quotas;
mod set_vt_batch;
mod start_tasks;
mod visibility;
mod wide_claims;
mod worker;
mod worst;
