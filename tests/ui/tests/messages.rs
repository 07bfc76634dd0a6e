//! What the compiler says about wrong flows, and that right ones compile and run.
//!
//! See `README.md` beside this crate's manifest for how to accept new messages.

use pgflow_ui_tests::{current, pinned};

#[test]
fn wrong_flows_are_explained_and_right_ones_run() {
    assert_eq!(
        current(),
        pinned(),
        "the committed messages belong to the pinned toolchain: run the tests from the \
         repository, where rust-toolchain.toml chooses it, and without +toolchain"
    );
    let cases = trybuild::TestCases::new();
    cases.pass("pass/*.rs");
    cases.compile_fail("fail/*.rs");
}
