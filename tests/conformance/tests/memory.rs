//! All checks on memory.

use std::sync::Arc;

use pgflow_conformance::subjects::InMemory;
use pgflow_conformance::{Options, Subject, assert_passed, loads_what_is_asked_for, run};
use pgflow_runtime::memory::Memory;

#[tokio::test(flavor = "multi_thread")]
async fn memory_does_what_every_backend_must() {
    let subjects: Vec<Arc<dyn Subject>> = vec![Arc::new(InMemory), Arc::new(InMemory)];
    assert_passed("memory", &run(&subjects, &Options::from_env()).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_loads_what_commands_ask_for() {
    loads_what_is_asked_for(&Memory::new()).await;
}
