//! What the compiler says about wrong flows, with the default features, and that right ones compile and run.
//!
//! See `README.md` beside this crate's manifest for how to accept new messages.

use std::env;
use std::fmt::Write as _;
use std::path::Path;

use pgflow_ui_tests::{Many, Shown, cases, current, pinned};

/// What the compiler says about a case, as it is committed.
fn said(shown: &[Shown]) -> String {
    let all: Vec<_> = shown.iter().map(|it| it.rendered.trim_end()).collect();
    all.join("\n\n").replace("src/bin/", "fail/") + "\n"
}

#[test]
fn wrong_flows_are_explained() {
    assert_eq!(
        current(),
        pinned(),
        "the committed messages belong to the pinned toolchain: run the tests from the \
         repository, where rust-toolchain.toml chooses it, and without +toolchain"
    );
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ui");
    let sources: Vec<_> = cases().into_iter().map(|case| (case.source(), case)).collect();
    let programs = sources.iter().map(|(source, case)| (case.name.as_str(), source.as_str()));
    // What a case has in another file.
    let other_file =
        ("in_another_file/billing", include_str!("../fail/in_another_file/billing.rs"));
    let found = Many::write(&scratch, "messages", programs.chain([other_file])).errors();
    let (is_accepted, mut other) =
        (env::var_os("MESSAGES").is_some_and(|it| it == "overwrite"), String::new());
    for (_, case) in &sources {
        let shown = found.get(&case.name).unwrap_or_else(|| panic!("`{}` compiles", case.name));
        let said = said(shown);
        if is_accepted {
            case.accept(&said);
        }
        let expected = case.snapshot().unwrap_or_default();
        if said != expected {
            let _ = write!(other, "\n{}\nEXPECTED\n{expected}\nSAID\n{said}", case.name);
        }
    }
    assert!(other.is_empty(), "{other}\naccept with MESSAGES=overwrite");
}

#[test]
fn right_flows_run() {
    trybuild::TestCases::new().pass("pass/*.rs");
}
