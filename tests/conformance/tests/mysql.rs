//! All checks on MariaDB.

use std::sync::Arc;

use pgflow_conformance::subjects::OnMySql;
use pgflow_conformance::{Options, Subject, assert_passed, run};

#[tokio::test(flavor = "multi_thread")]
async fn mysql_does_what_every_backend_must() {
    let subject = || Arc::new(OnMySql::new()) as Arc<dyn Subject>;
    assert_passed("mysql", &run(&[subject(), subject()], &Options::from_env()).await);
}
