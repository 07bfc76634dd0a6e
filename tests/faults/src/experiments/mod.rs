//! The catalogue.

mod blocked;
mod bulk;
mod cancel;
mod clock;
mod commits;
mod crash;
mod disk;
mod durable;
mod jobs;
mod leaks;
mod ledger;
mod listener;
mod lost_answer;
mod memory;
mod pipelines;
mod poison;
mod pool;
mod refusals;
mod resets;
mod schedules;
mod shutdown;
mod start_in;
mod streams;
mod waits;
mod wide;
mod zombie;

use crate::harness::Experiment;
use crate::harness::Kind::{MySql, Postgres, Sqlite};

/// An experiment, and a call of what does it.
macro_rules! experiment {
    ($id:literal, $about:literal, $lab:ident => $call:expr) => {
        Experiment { id: $id, about: $about, run: |$lab| Box::pin($call) }
    };
}

/// All experiments; the slow ones first, so that they do not come last. Ids are those of `docs/faults.md`.
pub const CATALOGUE: &[Experiment] = &[
    experiment!("X09", "kill -9 Postgres under load: what was acknowledged is there afterwards",
        lab => durable::killed_server(lab)),
    experiment!("X05-postgres", "kill -9 a worker every 250 ms: `tx` steps take effect once, others do not",
        lab => ledger::storm(lab, Postgres)),
    experiment!("X05-sqlite", "the same on SQLite", lab => ledger::storm(lab, Sqlite)),
    experiment!("X05-mysql", "the same on MariaDB", lab => ledger::storm(lab, MySql)),
    experiment!("X23-postgres", "a disk that is full for a while: nothing is lost, no attempt used up, few words",
        lab => disk::full(lab, Postgres)),
    experiment!("X23-sqlite", "the same on SQLite", lab => disk::full(lab, Sqlite)),
    experiment!("X22-postgres", "logins are refused for a while: no result is lost, no mail sent twice",
        lab => refusals::passing(lab, Postgres)),
    experiment!("X22-sqlite", "a table is not there for a while: the same", lab => refusals::passing(lab, Sqlite)),
    experiment!("X22-mysql", "the same on MariaDB", lab => refusals::passing(lab, MySql)),
    experiment!("X24-postgres", "many results of the largest kind at once: in several messages",
        lab => bulk::at_once(lab, Postgres)),
    experiment!("X24-sqlite", "the same on SQLite", lab => bulk::at_once(lab, Sqlite)),
    experiment!("X24-mysql", "the same on MariaDB", lab => bulk::at_once(lab, MySql)),
    experiment!("X26-postgres", "handlers block every thread: nobody takes their tasks, and the step is named",
        lab => blocked::threads(lab, Postgres)),
    experiment!("X26-sqlite", "the same on SQLite", lab => blocked::threads(lab, Sqlite)),
    experiment!("X26-mysql", "the same on MariaDB", lab => blocked::threads(lab, MySql)),
    experiment!("X26-exit-postgres", "a second signal ends a process whose threads are all blocked",
        lab => blocked::signals(lab, Postgres)),
    experiment!("X26-exit-sqlite", "the same on SQLite", lab => blocked::signals(lab, Sqlite)),
    experiment!("X26-exit-mysql", "the same on MariaDB", lab => blocked::signals(lab, MySql)),
    experiment!("X25-postgres", "a commit that never succeeds: attempts count, and the run ends",
        lab => commits::never(lab, Postgres)),
    experiment!("X25-sqlite", "the same on SQLite", lab => commits::never(lab, Sqlite)),
    experiment!("X06-postgres", "a handler that aborts the process each time ends the run",
        lab => poison::aborts(lab, Postgres)),
    experiment!("X06-sqlite", "the same on SQLite", lab => poison::aborts(lab, Sqlite)),
    experiment!("X06-mysql", "the same on MariaDB", lab => poison::aborts(lab, MySql)),
    experiment!("X01-postgres", "kill -9 a worker in the middle of a task: another one does it",
        lab => crash::killed_worker(lab, Postgres)),
    experiment!("X01-sqlite", "the same on SQLite", lab => crash::killed_worker(lab, Sqlite)),
    experiment!("X01-mysql", "the same on MariaDB", lab => crash::killed_worker(lab, MySql)),
    experiment!("X02-postgres", "kill -9 the only worker: the next one goes on",
        lab => crash::only_worker(lab, Postgres)),
    experiment!("X02-sqlite", "the same on SQLite", lab => crash::only_worker(lab, Sqlite)),
    experiment!("X02-mysql", "the same on MariaDB", lab => crash::only_worker(lab, MySql)),
    experiment!("X03-postgres", "a stopped worker wakes up late and completes: its result is refused",
        lab => zombie::completes(lab, Postgres)),
    experiment!("X03-sqlite", "the same on SQLite", lab => zombie::completes(lab, Sqlite)),
    experiment!("X03-mysql", "the same on MariaDB", lab => zombie::completes(lab, MySql)),
    experiment!("X04-postgres", "a stopped worker wakes up late and fails: nothing comes of it",
        lab => zombie::fails(lab, Postgres)),
    experiment!("X04-sqlite", "the same on SQLite", lab => zombie::fails(lab, Sqlite)),
    experiment!("X04-mysql", "the same on MariaDB", lab => zombie::fails(lab, MySql)),
    experiment!("X14", "reset all connections every second: nothing is lost or recorded twice",
        lab => resets::every_second(lab, Postgres)),
    experiment!("X14-mysql", "the same on MariaDB", lab => resets::every_second(lab, MySql)),
    experiment!("X17", "end the sessions that listen every second: nothing is lost, only later",
        lab => listener::killed(lab)),
    experiment!("X16", "cut the answer to claims and results that were committed: nothing is lost or happens twice",
        lab => lost_answer::of_claims(lab, Postgres)),
    experiment!("X16-mysql", "the same on MariaDB", lab => lost_answer::of_claims(lab, MySql)),
    experiment!("X16-tx", "cut the answer to the commit of `tx` steps: each takes effect once",
        lab => lost_answer::of_commits(lab, Postgres)),
    experiment!("X16-tx-mysql", "the same on MariaDB", lab => lost_answer::of_commits(lab, MySql)),
    experiment!("X19", "a pool of two for 50 handlers and the engine: no deadlock, no lease runs out",
        lab => pool::of_two(lab)),
    experiment!("X21", "a worker whose clock is an hour off, and jumps: nobody notices",
        lab => clock::skewed(lab)),
    experiment!("X12-postgres", "SIGTERM gives tasks back without using up attempts; a second signal, at once",
        lab => shutdown::gives_back(lab, Postgres)),
    experiment!("X12-sqlite", "the same on SQLite", lab => shutdown::gives_back(lab, Sqlite)),
    experiment!("X12-mysql", "the same on MariaDB", lab => shutdown::gives_back(lab, MySql)),
    experiment!("X12-lost", "SIGTERM without a database: the exit status says that something was lost",
        lab => shutdown::without_database(lab)),
    experiment!("X13-postgres", "cancel a run: handlers are told before their next heartbeat, no new one starts",
        lab => cancel::busy_run(lab, Postgres)),
    experiment!("X13-sqlite", "the same on SQLite", lab => cancel::busy_run(lab, Sqlite)),
    experiment!("X13-mysql", "the same on MariaDB", lab => cancel::busy_run(lab, MySql)),
    experiment!("X20-postgres", "start in a transaction: the run is there if and only if that commits",
        lab => start_in::transaction(lab, Postgres)),
    experiment!("X20-sqlite", "the same on SQLite", lab => start_in::transaction(lab, Sqlite)),
    experiment!("X20-mysql", "the same on MariaDB", lab => start_in::transaction(lab, MySql)),
    experiment!("X40-postgres", "kill -9 a worker every 250 ms: needs with `tx` take effect once, others do not",
        lab => jobs::killed(lab, Postgres)),
    experiment!("X40-sqlite", "the same on SQLite", lab => jobs::killed(lab, Sqlite)),
    experiment!("X40-mysql", "the same on MariaDB", lab => jobs::killed(lab, MySql)),
    experiment!("X41-postgres", "a stopped worker wakes up late and settles its job: that is refused",
        lab => jobs::comes_back(lab, Postgres)),
    experiment!("X41-sqlite", "the same on SQLite", lab => jobs::comes_back(lab, Sqlite)),
    experiment!("X41-mysql", "the same on MariaDB", lab => jobs::comes_back(lab, MySql)),
    experiment!("X42", "cut the answer to claims and results of jobs: nothing is lost or happens twice",
        lab => jobs::of_jobs(lab)),
    experiment!("X43-postgres", "jobs are submitted while what they wait for ends: no wake-up is lost",
        lab => jobs::wake_ups(lab, Postgres)),
    experiment!("X43-sqlite", "the same on SQLite", lab => jobs::wake_ups(lab, Sqlite)),
    experiment!("X43-mysql", "the same on MariaDB", lab => jobs::wake_ups(lab, MySql)),
    experiment!("X44-postgres", "kill -9 workers that hold keys: no key is held twice",
        lab => jobs::held_by_the_dead(lab, Postgres)),
    experiment!("X44-sqlite", "the same on SQLite", lab => jobs::held_by_the_dead(lab, Sqlite)),
    experiment!("X44-mysql", "the same on MariaDB", lab => jobs::held_by_the_dead(lab, MySql)),
    experiment!("X46-postgres", "kill -9 workers that are about to wait for a child: no orphan, no second child",
        lab => waits::children(lab, Postgres)),
    experiment!("X46-sqlite", "the same on SQLite", lab => waits::children(lab, Sqlite)),
    experiment!("X46-mysql", "the same on MariaDB", lab => waits::children(lab, MySql)),
    experiment!("X47-postgres", "answers race the waits for them: none is lost, none comes twice",
        lab => waits::answers(lab, Postgres)),
    experiment!("X47-sqlite", "the same on SQLite", lab => waits::answers(lab, Sqlite)),
    experiment!("X47-mysql", "the same on MariaDB", lab => waits::answers(lab, MySql)),
    experiment!("X48-postgres", "end the sessions that listen under 4 writers and 3 readers: every reader has every chunk",
        lab => streams::crowd(lab, Postgres)),
    experiment!("X48-sqlite", "the same on SQLite, which has no sessions", lab => streams::crowd(lab, Sqlite)),
    experiment!("X48-mysql", "the same on MariaDB, all sessions", lab => streams::crowd(lab, MySql)),
    experiment!("X49-postgres", "a writer stops before its commit: no reader and no writer passes it",
        lab => streams::paused(lab, Postgres)),
    experiment!("X49-mysql", "the same on MariaDB", lab => streams::paused(lab, MySql)),
    experiment!("X51-postgres", "workers whose clocks are wrong: sleeps, timeouts and schedules keep their time",
        lab => clock::waits(lab, Postgres)),
    experiment!("X51-mysql", "the same on MariaDB", lab => clock::waits(lab, MySql)),
    experiment!("X45-postgres", "two jobs are about to wait for each other: one may",
        lab => jobs::rings(lab, Postgres)),
    experiment!("X45-sqlite", "the same on SQLite", lab => jobs::rings(lab, Sqlite)),
    experiment!("X45-mysql", "the same on MariaDB", lab => jobs::rings(lab, MySql)),
    experiment!("X50-postgres", "a moment in every second, and workers are killed: each starts one run",
        lab => schedules::every_second(lab, Postgres)),
    experiment!("X50-sqlite", "the same on SQLite", lab => schedules::every_second(lab, Sqlite)),
    experiment!("X50-mysql", "the same on MariaDB", lab => schedules::every_second(lab, MySql)),
    experiment!("X60-sqlite", "kill -9 those who hold the only GPU: never two holders by the database's clock",
        lab => pipelines::one_holder(lab, Sqlite)),
    experiment!("X60-mysql", "the same on MariaDB", lab => pipelines::one_holder(lab, MySql)),
    experiment!("X60-postgres", "the same on Postgres", lab => pipelines::one_holder(lab, Postgres)),
    experiment!("X61-sqlite", "kill -9 workers whose messages emit three and write a row: all of it or nothing, in the end once",
        lab => pipelines::all_or_none(lab, Sqlite)),
    experiment!("X61-mysql", "the same on MariaDB", lab => pipelines::all_or_none(lab, MySql)),
    experiment!("X61-postgres", "the same on Postgres", lab => pipelines::all_or_none(lab, Postgres)),
    experiment!("X62-sqlite", "kill -9 the only worker while a batch waits: the wait goes on",
        lab => pipelines::batch_waits(lab, Sqlite)),
    experiment!("X62-mysql", "the same on MariaDB", lab => pipelines::batch_waits(lab, MySql)),
    experiment!("X62-postgres", "the same on Postgres", lab => pipelines::batch_waits(lab, Postgres)),
    experiment!("X63-sqlite", "three processes keep to one rate, also when they are killed",
        lab => pipelines::rate_is_kept(lab, Sqlite)),
    experiment!("X63-mysql", "the same on MariaDB", lab => pipelines::rate_is_kept(lab, MySql)),
    experiment!("X63-postgres", "the same on Postgres", lab => pipelines::rate_is_kept(lab, Postgres)),
    experiment!("X64-sqlite", "SIGTERM gives messages back, also those fetched ahead, without using up attempts",
        lab => pipelines::shutdown(lab, Sqlite)),
    experiment!("X64-mysql", "the same on MariaDB", lab => pipelines::shutdown(lab, MySql)),
    experiment!("X64-postgres", "the same on Postgres", lab => pipelines::shutdown(lab, Postgres)),
    experiment!("X30-postgres", "a map with megabytes of texts, and a step that is given all of them, end",
        lab => wide::texts_end(lab, Postgres)),
    experiment!("X30-sqlite", "the same on SQLite", lab => wide::texts_end(lab, Sqlite)),
    experiment!("X30-mysql", "the same on MariaDB", lab => wide::texts_end(lab, MySql)),
    experiment!("X31-postgres", "a small run behind a wide map does not wait for it",
        lab => wide::small_run(lab, Postgres)),
    experiment!("X31-sqlite", "the same on SQLite", lab => wide::small_run(lab, Sqlite)),
    experiment!("X31-mysql", "the same on MariaDB", lab => wide::small_run(lab, MySql)),
    experiment!("M1-postgres", "the memory of a worker that drains a large map stays flat",
        lab => memory::of_a_large_map(lab, Postgres)),
    experiment!("M1-sqlite", "the same on SQLite", lab => memory::of_a_large_map(lab, Sqlite)),
    experiment!("M2-postgres", "workers that started and stopped leave nothing behind",
        lab => leaks::of_workers(lab, Postgres)),
    experiment!("M2-sqlite", "the same on SQLite", lab => leaks::of_workers(lab, Sqlite)),
    experiment!("M2-mysql", "the same on MariaDB", lab => leaks::of_workers(lab, MySql)),
];
