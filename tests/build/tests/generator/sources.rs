//! Where the generator looks for flows, and what it says about places it cannot look into.

use std::path::Path;

use pgflow_build::{Plan, migrations};
use pgflow_build_tests::Scratch;

/// A flow of this name.
fn flow(name: &str) -> String {
    format!(
        "#[pgflow::flow]\npub mod {name} {{ #[step] pub async fn a() -> Result<u8> {{ Ok(1) }} }}\n"
    )
}

fn plan(files: &[(&str, &str)]) -> Plan {
    Scratch::new(files).migrations().plan().expect("a plan")
}

fn slugs(plan: &Plan) -> Vec<&str> {
    plan.flows.iter().map(|flow| &*flow.shape.slug).collect()
}

fn warnings(plan: &Plan) -> Vec<String> {
    plan.unseen.iter().map(|(place, why)| format!("{place}: {why}")).collect()
}

/// Which file each layout leads to, as the compiler would find it.
#[test]
fn modules_are_followed_like_the_compiler_does() {
    let found = flow("found");
    for (name, lib, file) in [
        ("a file", "mod a;", "src/a.rs"),
        ("a mod.rs", "mod a;", "src/a/mod.rs"),
        ("a visible one", "pub(crate) mod a;", "src/a.rs"),
        ("a raw name", "mod r#async;", "src/async.rs"),
        ("a path", "#[path = \"x/y.rs\"] mod a;", "src/x/y.rs"),
        ("a path upwards", "#[path = \"../gen/y.rs\"] mod a;", "src/../gen/y.rs"),
        ("below an inline module", "mod a { mod b; }", "src/a/b.rs"),
        ("below two inline modules", "mod a { mod b { mod c; } }", "src/a/b/c.rs"),
        ("a path below an inline module", "mod a { #[path = \"y.rs\"] mod b; }", "src/a/y.rs"),
        ("an inline module with a path", "#[path = \"d\"] mod a { mod b; }", "src/d/b.rs"),
        ("an included file", "include!(\"x/flows.rs\");", "src/x/flows.rs"),
        ("under a condition", "#[cfg(unix)] mod a;", "src/a.rs"),
        ("after an inner attribute", "#![allow(dead_code)]\n//! Docs.\nmod a;", "src/a.rs"),
    ] {
        let plan = plan(&[("src/lib.rs", lib), (file, &found)]);
        assert_eq!(slugs(&plan), ["found"], "{name}");
        assert!(plan.sources.contains(Path::new(file)), "{name}: {:?}", plan.sources);
        assert_eq!(plan.sources.len(), 2, "{name}: {:?}", plan.sources);
    }
}

#[test]
fn modules_nest_in_files() {
    let plan = plan(&[
        ("src/main.rs", "mod a;"),
        ("src/a.rs", "mod b; #[path = \"beside.rs\"] mod c;"),
        ("src/a/b.rs", "mod d { mod e; }"),
        ("src/a/b/d/e.rs", &flow("deep")),
        ("src/beside.rs", &format!("mod f; {}", flow("beside"))),
        ("src/f.rs", &flow("f")),
        ("src/bin/tool.rs", &flow("tool")),
        ("src/bin/more/main.rs", &flow("more")),
        ("src/unused.rs", &flow("unused")),
        ("tests/test.rs", &flow("test")),
    ]);
    assert_eq!(slugs(&plan), ["beside", "deep", "f", "more", "tool"]);
}

#[test]
fn a_file_shared_by_two_targets_is_one_flow() {
    let plan =
        plan(&[("src/lib.rs", "mod a;"), ("src/main.rs", "mod a;"), ("src/a.rs", &flow("a"))]);
    assert_eq!(slugs(&plan), ["a"]);
    assert_eq!(plan.problems, []);
}

#[test]
fn a_file_that_is_not_there_yet_is_watched() {
    let plan = plan(&[("src/lib.rs", "mod soon;")]);
    assert!(plan.sources.contains(Path::new("src/soon.rs")));
}

#[test]
fn tests_are_left_out() {
    let (test, own) = (flow("test"), flow("own"));
    for lib in [
        format!("{own}#[cfg(test)] mod tests {{ {test} }}"),
        format!("{own}#[cfg(test)] mod tests;"),
        format!("{own}#[test] fn works() {{ {test} }}"),
        format!("{own}#[cfg(all(test, unix))]\n{test}"),
    ] {
        let plan = plan(&[("src/lib.rs", &lib), ("src/tests.rs", &test)]);
        assert_eq!(slugs(&plan), ["own"], "{lib}");
        assert_eq!(plan.unseen, [], "{lib}");
    }
}

#[test]
fn what_cannot_be_followed_is_named() {
    let hidden = flow("hidden").replace('\n', " ");
    for (lib, warning) in [
        (
            format!("macro_rules! make {{ () => {{ {hidden} }} }}"),
            "src/lib.rs:1:29: a flow written by the macro `make!` is not seen",
        ),
        (
            format!("other::wrap! {{ {hidden} }}"),
            "src/lib.rs:1:16: a flow written by the macro `wrap!` is not seen",
        ),
        (
            "\ninclude!(concat!(env!(\"OUT_DIR\"), \"/x.rs\"));".into(),
            "src/lib.rs:2:1: flows in this included file are not seen",
        ),
        (
            format!("fn main() {{ {hidden} }}"),
            "src/lib.rs:1:13: a flow inside a function is not seen: move it out",
        ),
        (
            "use pgflow::{step, flow as workflow};".into(),
            "src/lib.rs:1:20: flows marked `#[workflow]` are not seen: import `flow` by its name",
        ),
        (
            "#[cfg_attr(unix, path = \"x.rs\")] mod a;".into(),
            "src/lib.rs:1:1: where this module is depends on `cfg_attr`, which is not followed",
        ),
        (
            "#[cfg_attr(unix, pgflow::flow)] mod a {}".into(),
            "src/lib.rs:1:1: whether this is a flow depends on `cfg_attr`, which is not followed",
        ),
    ] {
        assert_eq!(warnings(&plan(&[("src/lib.rs", &lib)])), [warning], "{lib}");
    }
}

#[test]
fn a_file_can_be_said_to_have_no_flows() {
    let scratch = Scratch::new(&[("src/lib.rs", "mod a;"), ("src/a.rs", "include!(env!(\"X\"));")]);
    assert_eq!(scratch.migrations().plan().expect("a plan").unseen.len(), 1);
    let quiet = scratch.migrations().no_flows_in("src/a.rs").plan().expect("a plan");
    assert_eq!(quiet.unseen, []);
}

#[test]
fn other_items_do_not_disturb() {
    let lib = format!(
        "#!/usr/bin/env run\nextern crate alloc;\nuse a::{{b, c}};\nconst X: u8 = {{ 1 }};\nimpl !Send for S {{}}\n\
         fn f() -> ! {{ loop {{}} }}\nstruct S<const N: usize>;\nimpl S<{{ 1 }}> {{}}\nthread_local! {{ static A: u8 = 1; }}\n{}",
        flow("a")
    );
    let plan = plan(&[("src/lib.rs", &lib)]);
    assert_eq!((slugs(&plan), warnings(&plan)), (vec!["a"], vec![]));
}

#[test]
fn what_is_no_rust_does_not_hide_what_follows() {
    for broken in ["#[] struct A;", "mod 1 {}", "pub(in) mod b;", "mod"] {
        let plan = plan(&[("src/lib.rs", &format!("{broken}\n{}", flow("a")))]);
        assert_eq!(slugs(&plan), ["a"], "{broken}");
    }
}

#[test]
fn a_version_that_does_not_fit_its_name_is_refused() {
    let long = "o".repeat(45);
    let scratch = Scratch::new(&[("src/lib.rs", &flow(&long))]);
    scratch.migrate();
    let lib = flow(&long).replace("fn a()", "fn b()");
    scratch.write("src/lib.rs", &lib);
    let why = scratch.migrations().migrate().expect_err("too long").to_string();
    assert!(
        why.starts_with(&format!("src/lib.rs:2:9: flow `{long}` cannot have a version 2")),
        "{why}"
    );
    assert!(why.contains("it has 49 bytes, and the limit is 47"), "{why}");
    let help = format!(
        "help: give it a shorter `slug = \"…\"`: that makes a new flow, and `{long}` stays for its runs"
    );
    assert!(why.contains(&help), "{why}");
    scratch.write("src/lib.rs", &lib.replace("::flow]", "::flow(slug = \"short\")]"));
    assert_eq!(scratch.migrate(), ["0002_create_short.sql", "pgflow.lock"], "it was followed");
}

/// The examples of this repository, in whatever way it is built.
#[test]
fn examples_have_their_migrations() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop");
    let plan = migrations("migrations").in_crate(examples).plan().expect("a plan");
    assert_eq!(plan.problems, []);
    assert!(plan.is_up_to_date(), "run `cargo pgflow migrate`: {:?}", plan.files);
}
