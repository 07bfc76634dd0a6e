//! All checks on Postgres.

use std::sync::Arc;

use pgflow_conformance::subjects::OnPostgres;
use pgflow_conformance::{Options, Subject, assert_passed, run};

#[tokio::test(flavor = "multi_thread")]
async fn postgres_does_what_every_backend_must() {
    let subjects: Vec<Arc<dyn Subject>> = vec![Arc::new(OnPostgres), Arc::new(OnPostgres)];
    assert_passed("postgres", &run(&subjects, &Options::from_env()).await);
}
