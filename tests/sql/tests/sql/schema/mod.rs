//! What the catalog says: tables, constraints, functions.

mod checks_of_runs;
mod checks_of_steps;
mod columns;
mod constraints;
mod functions;
mod hot_updates;
mod signatures;
