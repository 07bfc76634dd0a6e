//! Who may do what, and what no text can make the core do.

mod calls;
mod grants;
mod hijack;
mod hijack_jobs;
mod hijack_pipelines;
mod hijack_schedules;
mod hijack_streams;
mod hijack_traps;
mod hijack_waits;
mod injection;
mod literal_text;
mod matrix;
mod nulls;
mod schema_dump;
