//! What a user sees when cargo builds a crate with flows. One crate, built again and again.

mod editor;
mod project;

use project::{FLOW, Project, package};

const CHANGED: (&str, &str) = ("timeout = 30", "timeout = 31");

#[test]
fn a_crate_is_built_changed_and_built_again() {
    let project = Project::new("life");
    writes_on_the_first_build(&project);
    does_nothing_on_the_second(&project);
    is_silent_once_it_has_run_again(&project);
    project.keep();
    shows_drift_at_the_step_in_ci(&project);
    names_a_flow_without_migration_in_ci(&project);
    can_be_told_to_be_quiet(&project);
    writes_where_packages_are_unpacked_never(&project);
    builds_where_nothing_can_be_written(&project);
    tunes_what_changed(&project);
    project.keep();
    makes_a_version_of_another_shape(&project);
    warns_of_what_it_cannot_follow(&project);
}

const MAIL: &str = "#[pgflow::flow]\npub mod mail { #[step] pub async fn send() -> pgflow::Result<u8> { Ok(1) } }\n";

#[test]
fn a_file_that_comes_later_is_noticed_and_one_that_never_comes_is_not_waited_for() {
    let project = Project::new("later");
    project.write("src/bin/first.rs", "fn main() {}\n");
    project.build(&[]).succeeds();
    project.write("src/bin/second.rs", &format!("{MAIL}fn main() {{}}\n"));
    project.build(&[]).says("migrations/0002_create_mail.sql is new: commit it");

    project.write("src/lib.rs", &format!("{FLOW}#[cfg(windows)]\nmod windows;\n"));
    project.build(&[]).succeeds();
    let again = project.build(&["-v"]);
    again.says("Fresh later v0.1.0");
    again.says_not("build-script-build`");
    project.write("src/windows.rs", &MAIL.replace("mod mail", "mod post"));
    project.build(&[]).says("migrations/0003_create_post.sql is new: commit it");
}

#[test]
fn the_example_can_be_packaged() {
    let packaged = package("pgflow-example-shop");
    packaged.succeeds();
    packaged.says("Verifying pgflow-example-shop v0.1.0");
}

fn writes_on_the_first_build(project: &Project) {
    let built = project.build(&[]);
    built.succeeds();
    built.says("migrations/0001_create_billing.sql is new: commit it");
    built.says("pgflow.lock has changed: commit it");
    assert_eq!(project.migrations(), ["0001_create_billing.sql"]);
}

fn does_nothing_on_the_second(project: &Project) {
    let before = project.times();
    let built = project.build(&["-v"]);
    built.succeeds();
    built.says("Fresh life v0.1.0");
    built.says_not("build-script-build`");
    assert_eq!(project.times(), before, "no file is touched");
}

/// Cargo repeats what a script said until it runs again; then there is nothing left to say.
fn is_silent_once_it_has_run_again(project: &Project) {
    project.write("src/lib.rs", &format!("{FLOW}// A comment.\n"));
    let built = project.build(&[]);
    built.succeeds();
    built.says_not("warning");
    project.write("src/lib.rs", FLOW);
}

fn shows_drift_at_the_step_in_ci(project: &Project) {
    project.write("src/lib.rs", &FLOW.replace(CHANGED.0, CHANGED.1));
    let built = project.build_with(&[("CI", "true")], &[]);
    built.fails();
    built.says(
        "error: step `list` has changed since migration `0001_create_billing.sql`
       before: list <- fetch timeout=30 : Vec<u32>
          now: list <- fetch timeout=31 : Vec<u32>
       note: compatible: options are changed in place, also for runs that are in flight
       help: run `cargo pgflow migrate` to write a migration for it
  --> src/lib.rs:12:5
   |
12 |     #[step(depends_on = [fetch], timeout = 31)]
   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
    );
    assert_eq!(project.migrations(), ["0001_create_billing.sql"]);
}

fn names_a_flow_without_migration_in_ci(project: &Project) {
    project.write("src/lib.rs", &format!("{FLOW}{MAIL}"));
    let built = project.build_with(&[("PGFLOW_MIGRATIONS", "check")], &[]);
    built.fails();
    built.says("src/lib.rs:18:9: flow `mail` has no migration");
    built.says("help: run `cargo pgflow migrate` to write one");
    assert_eq!(project.migrations(), ["0001_create_billing.sql"]);
}

fn can_be_told_to_be_quiet(project: &Project) {
    project.write("src/lib.rs", &FLOW.replace(CHANGED.0, CHANGED.1));
    project.build_with(&[("PGFLOW_MIGRATIONS", "off")], &[]).succeeds();
    let wrong = project.build_with(&[("PGFLOW_MIGRATIONS", "maybe")], &[]);
    wrong.fails();
    wrong.says("PGFLOW_MIGRATIONS is `maybe`: it is one of `write`, `check` and `off`");
    assert_eq!(project.migrations(), ["0001_create_billing.sql"]);
}

fn writes_where_packages_are_unpacked_never(project: &Project) {
    project.write(".cargo_vcs_info.json", "{}");
    let built = project.build(&[]);
    built.fails();
    built.says("step `list` has changed since migration");
    project.remove(".cargo_vcs_info.json");
    assert_eq!(project.migrations(), ["0001_create_billing.sql"]);
}

fn builds_where_nothing_can_be_written(project: &Project) {
    project.write("src/lib.rs", FLOW);
    project.set_read_only(true);
    project.build(&[]).succeeds();
    project.set_read_only(false);
    project.write("src/lib.rs", &FLOW.replace(CHANGED.0, CHANGED.1));
    project.set_read_only(true);
    let built = project.build(&[]);
    project.set_read_only(false);
    built.fails();
    built.says("step `list` has changed since migration");
    assert_eq!(project.migrations(), ["0001_create_billing.sql"]);
}

fn tunes_what_changed(project: &Project) {
    // As an editor would, so that cargo notices.
    project.write("src/lib.rs", &FLOW.replace(CHANGED.0, CHANGED.1));
    let built = project.build(&[]);
    built.succeeds();
    built.says("migrations/0002_tune_billing.sql is new");
    let embedded = project.run();
    assert_eq!(embedded, "0001_create_billing.sql 0002_tune_billing.sql; billing v1, finishes []");
}

fn makes_a_version_of_another_shape(project: &Project) {
    let renamed =
        FLOW.replace(CHANGED.0, "timeout = 31, was = \"list\"").replace("fn list", "fn order");
    project.write("src/lib.rs", &renamed);
    project.build(&[]).succeeds();
    assert_eq!(project.migrations()[2], "0003_create_billing_v2.sql");
    let embedded = project.run();
    assert!(embedded.ends_with("; billing__v2 v2, finishes [1]"), "{embedded}");
    let before = project.times();
    let again = project.build(&["-v"]);
    again.says("Fresh life v0.1.0");
    assert_eq!(project.times(), before);
}

fn warns_of_what_it_cannot_follow(project: &Project) {
    let text = project.read("src/lib.rs")
        + "macro_rules! hidden { () => { #[flow] mod x { #[step] pub async fn a() -> pgflow::Result<u8> { Ok(1) } } } }\n\
           pub mod made { include!(concat!(env!(\"OUT_DIR\"), \"/made.rs\")); }\n";
    project.write("src/lib.rs", &text);
    let built = project.build(&[]);
    built.says("src/lib.rs:17:31: a flow written by the macro `hidden!` is not seen");
    built.says("src/lib.rs:18:16: flows in this included file are not seen");
}
