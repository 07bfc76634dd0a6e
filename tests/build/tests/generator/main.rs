//! The generator: edits and what they write, versions beside each other.

mod committed;
mod dags;
mod drafts;
mod edits;
mod helps;
mod in_flight;
mod merges;
mod schemas;
mod sources;
mod stopped;
mod versions;
