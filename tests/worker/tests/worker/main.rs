//! Worker and client, on every backend: one binary, so that it is linked once and its servers are started once.

/// Runs a statement of the application's, or reads its table.
macro_rules! with_connection {
    ($fresh:expr, $connection:ident => $work:expr) => {
        if $fresh.url.starts_with("sqlite:") {
            let mut $connection = sqlx::SqliteConnection::connect(&$fresh.url).await?;
            $work
        } else if $fresh.url.starts_with("mysql:") {
            let mut $connection = sqlx::MySqlConnection::connect(&$fresh.url).await?;
            $work
        } else {
            let mut $connection = sqlx::PgConnection::connect(&$fresh.url).await?;
            $work
        }
    };
}

mod blocked;
mod cancel;
mod client;
mod connecting;
mod dropped_starts;
mod edges;
mod ended_transactions;
mod familiar_views;
mod fault_free;
mod held_back;
mod idle;
mod inputs;
mod job_permits;
mod job_transactions;
mod jobs;
mod key_lock;
mod lost_claims;
mod outage;
mod outcomes;
mod pipeline_demand;
mod pipeline_ends;
mod pipeline_testing;
mod pipeline_transactions;
mod pipelines;
mod programs;
mod refusals;
mod retention;
mod schedules;
mod shutdown;
mod sign_off;
mod slots;
mod spawned;
mod spoiled;
mod starts;
mod step_permits;
mod stream_fan_out;
mod streams;
mod transactions;
mod trouble;
mod waiting;
mod waits;
mod waits_for_children;
mod website;
mod write_lock;
