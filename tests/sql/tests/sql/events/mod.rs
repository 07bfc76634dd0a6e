//! What a run tells its readers.

mod off;
mod order;
mod payload;
mod payload_skips;
mod read_events;
mod transaction;
