//! All checks on Postgres.

use std::sync::Arc;

use pgflow_conformance::subjects::OnPostgres;
use pgflow_conformance::{Options, Subject, assert_passed, run};

#[tokio::test(flavor = "multi_thread")]
async fn postgres_does_what_every_backend_must() {
    let subject = || Arc::new(OnPostgres::new()) as Arc<dyn Subject>;
    assert_passed("postgres", &run(&[subject(), subject()], &Options::from_env()).await);
}
