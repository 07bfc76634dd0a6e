//! What an editor can do in a flow, right or wrong, asked of a real rust-analyzer.
//!
//! `cargo xtask provision` adds one to the toolchain; without one, these tests fail.

mod document;
mod needs;
mod server;

use std::path::Path;

use document::Document;
use pgflow_syntax::{flow_words, step_words};

const RIGHT: &str = include_str!("right.rs");
const WRONG: &str = include_str!("wrong.rs");
const TYPING: &str = include_str!("typing.rs");

const FETCH_USER: &str = "pub async fn fetch_user(run: Signup) -> Result<User> {";

/// Every line of the right flow that names `fetch_user`, but for the parameter: that is its own.
const MENTIONS: [&str; 6] = [
    "#[step(depends_on = [fetch_user as user])]",
    "#[step(depends_on = [fetch_user])]",
    "#[step(depends_on = [list, fetch_user])]",
    "analyze::fetch_user(Signup { id: 1 }).await",
    FETCH_USER,
    "run.step::<analyze::fetch_user>().ok().flatten()",
];

fn open(name: &str, text: &str) -> Document {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ui");
    let binary = pgflow_test_programs::find_rust_analyzer().unwrap_or_else(|why| panic!("{why}"));
    Document::open(&binary, &scratch, name, text)
}

/// As an editor lists them.
fn sorted(mut words: Vec<&'static str>) -> Vec<&'static str> {
    words.sort_unstable();
    words
}

#[test]
fn names_in_a_right_flow_lead_to_their_steps() {
    let mut flow = open("right", RIGHT);
    assert_eq!(flow.definition("depends_on = [fetch_us|er as user]"), [FETCH_USER]);
    assert_eq!(flow.definition("depends_on = [list, fetch_us|er]"), [FETCH_USER]);
    assert_eq!(flow.definition("fetch_user: Us|er, list"), ["pub struct User {"]);
    assert!(flow.hover("depends_on = [fetch_us|er as user]").contains("async fn fetch_user"));
    assert_eq!(flow.references("pub async fn fetch_us|er("), MENTIONS);
    assert_eq!(flow.problems(), Vec::<String>::new());
}

#[test]
fn a_rename_changes_the_step_and_everything_that_names_it() {
    let mut flow = open("rename", RIGHT);
    assert_eq!(flow.rename("pub async fn fetch_us|er(", "load_user"), MENTIONS);
    assert_eq!(flow.rename("depends_on = [fetch_us|er as user]", "load_user"), MENTIONS);
    // No parameter takes it here.
    assert_eq!(flow.rename("depends_on = [fetch_us|er])", "load_user"), MENTIONS);
}

#[test]
fn a_wrong_flow_is_still_a_flow() {
    let mut flow = open("wrong", WRONG);
    assert_eq!(flow.definition("depends_on = [fetch_us|er, scoer]"), [FETCH_USER]);
    let ring = |name| format!("pub async fn {name}() -> Result<u32> {{");
    assert_eq!(flow.definition("depends_on = [ri|ng_a]"), [ring("ring_a")]);
    // The error is on this very word, so the editor offers `compile_error!` as well.
    assert!(flow.definition("depends_on = [ri|ng_b]").contains(&ring("ring_b")));
    assert!(flow.completions("let name = fetch_user.|name;").contains(&"name".to_owned()));
    let problems = flow.problems();
    for expected in ["there is no step `scoer`", "`timeout`", "wait for each other"] {
        assert!(problems.iter().any(|it| it.contains(expected)), "{expected}: {problems:#?}");
    }
}

#[test]
fn words_in_attributes_are_completed_and_described() {
    const STEPS: [&str; 6] =
        ["all_options", "fetch_user", "list", "nothing", "options", "signature"];
    let mut flow = open("typing", TYPING);
    let mut completed = |cursor| {
        let mut found = flow.completions(cursor);
        found.dedup(); // A step is a function and a type.
        found
    };
    assert_eq!(completed("depends_on = [fetch|])"), STEPS);
    assert_eq!(completed("step(when_|)"), sorted(step_words()));
    // `crate` is a keyword, and no item can be called so.
    let of_flow = flow_words().into_iter().filter(|word| *word != "crate");
    assert_eq!(completed("max_att|)"), sorted(of_flow.collect()));
    // Where nothing is typed yet, steps are offered among everything else.
    let among_others = completed("depends_on = [|])");
    assert!(STEPS.iter().all(|step| among_others.iter().any(|it| it == step)), "{among_others:?}");

    for (cursor, described) in [
        ("#[st|ep(timeout = 30)]", "Marks a step of a flow"),
        ("#[step(time|out = 30)]", "longest run of one task"),
        ("inp|ut = u32", "what a run starts with"),
    ] {
        let hover = flow.hover(cursor);
        assert!(hover.contains(described), "{cursor}: {hover}");
    }
}
