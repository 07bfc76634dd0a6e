//! A change in one step stops exactly the places that no longer fit, and nothing else.

mod change_an_output;
mod change_the_input;
mod insert_a_step;
mod make_a_step_skippable;
mod remove_a_step;
mod rename_a_step;
mod turn_a_step_into_a_map;

use std::path::Path;

use pgflow_refactor_tests::Project;

const FLOW: &str = "src/flow.rs";
const CLIENT: &str = "src/client.rs";
const TESTS: &str = "src/tests.rs";

fn project(name: &str) -> Project {
    Project::new(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("refactor"), name)
}

#[test]
fn the_example_compiles() {
    project("unchanged").check().compiles();
}
