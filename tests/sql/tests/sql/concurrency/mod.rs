//! Two sessions and more at the same instant.

mod compile_race;
mod diamond_join;
mod interleaving;
mod last_elements;
mod leftover_lock;
mod race;
mod reader;
mod same_message;
mod settle_race;
mod start_race;
mod storm;
mod storm_session;
