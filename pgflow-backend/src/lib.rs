//! What a database has to do to keep runs: the contract, and what databases share that keep it.
//!
//! | module | what is inside |
//! |---|---|
//! | [`backend`] | the contract between the engine and a database |
//! | [`store`] | the contract kept for every database that only loads and writes rows |
//! | [`memory`] | the store without a database, for tests |
//! | [`tx`] | transactions that are lent to steps |
//! | [`backoff`], [`gathering`], [`weight`], [`shown`], [`flow_migrations`] | what backends have in common |
//!
//! **Exempt from semantic versioning**: all of this is for the backends of this project, `pgflow-postgres`, `pgflow-sqlite` and
//! `pgflow-mysql`, and for `pgflow-runtime`, which runs flows on them. It changes with any release. Applications depend on
//! `pgflow`.

#![forbid(unsafe_code)]

pub mod backend;
pub mod backoff;
pub mod flow_migrations;
pub mod gathering;
pub mod memory;
pub mod shown;
#[cfg(feature = "sql")]
pub mod sql;
pub mod store;
pub mod tx;
pub mod weight;
