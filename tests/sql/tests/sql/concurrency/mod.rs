//! Two sessions and more at the same instant.

mod beside_deletion;
mod compile_race;
mod deadlocks;
mod definitions_beside_work;
mod diamond_join;
mod interleaving;
mod last_elements;
mod leftover_lock;
mod lock_order;
mod lock_order_of_flows;
mod lock_order_of_workers;
mod race;
mod reader;
mod same_message;
mod same_runs;
mod same_runs_actor;
mod same_runs_besides;
mod settle_race;
mod start_race;
mod storm;
mod storm_session;
