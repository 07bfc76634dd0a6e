//! Every kind of edit to a flow: what it means, and exactly which files it writes.

mod cases;
mod refused;
mod versions;

use cases::{Case, EDITS, LIB, ORDERS};
use pgflow_build::{Comparison, Plan};
use pgflow_build_tests::Scratch;
use pgflow_model::Impact;
use refused::REFUSED;
use versions::VERSIONS;

fn base() -> Scratch {
    let scratch = Scratch::new(&[("src/lib.rs", LIB), ("src/orders.rs", ORDERS)]);
    assert_eq!(scratch.migrate(), ["0001_create_orders.sql", "pgflow.lock"]);
    scratch
}

fn edit(scratch: &Scratch, case: &Case) {
    for (file, from, to) in case.edits {
        let path = scratch.dir.join(file);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(text.contains(from), "{}: nothing to replace: {from}", case.name);
        scratch.write(file, &text.replacen(from, to, 1));
    }
}

/// What the edit means for the flow `orders`, in one word.
fn meaning(plan: &Plan) -> &'static str {
    let flow = plan.flows.iter().find(|flow| flow.shape.slug == "orders");
    match flow.map(|flow| &flow.comparison) {
        None => "gone",
        Some(Comparison::New) => "new",
        Some(Comparison::With { impact: Impact::Nothing, .. }) => "nothing",
        Some(Comparison::With { impact: Impact::Types, .. }) => "types",
        Some(Comparison::With { impact: Impact::Options, .. }) => "options",
        Some(Comparison::With { impact: Impact::Compatible, .. }) => "compatible",
        Some(Comparison::With { .. }) => "incompatible",
    }
}

#[test]
fn each_edit_writes_exactly_what_it_needs() {
    assert!(EDITS.len() + VERSIONS.len() >= 40, "only {} edits", EDITS.len() + VERSIONS.len());
    for case in EDITS.iter().chain(VERSIONS) {
        let scratch = base();
        let before = scratch.files();
        edit(&scratch, case);
        let plan = scratch.migrations().plan().expect("a plan");
        assert_eq!(meaning(&plan), case.means, "{}", case.name);
        assert_eq!(scratch.migrate(), case.writes, "{}", case.name);
        let after = scratch.files();
        for (name, text) in &before {
            assert_eq!(after.get(name), Some(text), "{}: {name} was rewritten", case.name);
        }
        let new = case.writes.iter().filter(|name| **name != "pgflow.lock").count();
        assert_eq!(after.len(), before.len() + new, "{}", case.name);
        assert!(scratch.migrate().is_empty(), "{}: a second build writes again", case.name);
    }
}

#[test]
fn what_no_migration_can_do_is_refused_at_its_place() {
    for case in REFUSED {
        let scratch = base();
        let before = (scratch.files(), scratch.read("pgflow.lock"));
        edit(&scratch, case);
        let refused = scratch.migrations().migrate();
        let text = refused.expect_err(case.name).to_string();
        assert!(text.contains(case.means), "{}: {text}", case.name);
        assert_eq!((scratch.files(), scratch.read("pgflow.lock")), before, "{}", case.name);
    }
}

#[test]
fn whoever_follows_the_help_of_a_refused_edit_can_migrate() {
    for (name, version, written) in [
        ("a version that is not known", "version = 7, ", &[][..]),
        (
            "a kept version that changed",
            "version = 1, ",
            &["0002_create_orders_v2.sql", "pgflow.lock"],
        ),
    ] {
        let scratch = base();
        edit(&scratch, REFUSED.iter().find(|case| case.name == name).expect("a case"));
        scratch.write("src/orders.rs", &scratch.read("src/orders.rs").replace(version, ""));
        assert_eq!(scratch.migrate(), written, "{name}");
    }
}

#[test]
fn another_format_is_another_version_that_does_not_finish_the_old_one() {
    let scratch = base();
    scratch.write("src/orders.rs", &ORDERS.replace("(input", "(format = 2, input"));
    assert_eq!(scratch.migrate(), ["0002_create_orders_v2.sql", "pgflow.lock"]);
    let text = scratch.read("migrations/0002_create_orders_v2.sql");
    assert!(text.contains("--   the flow: format was 1, now 2\n"), "{text}");
    let lock: pgflow_model::Lock = scratch.read("pgflow.lock").parse().expect("a lock");
    assert_eq!(lock.finishable("orders", 2), []);
    assert!(scratch.migrate().is_empty(), "a second build writes again");
}

#[test]
fn a_new_version_says_what_it_means() {
    let scratch = base();
    scratch.write(
        "src/orders.rs",
        &ORDERS
            .replace("(map, depends_on = [fetch])", "(depends_on = [fetch])")
            .replace("item: Item", "fetch: Vec<Item>"),
    );
    scratch.migrate();
    let expected = "\
-- pgflow flow: orders v2
-- Written by pgflow when the crate was built. Do not edit it: pgflow.lock has its checksum.
-- Differs from version 1; incompatible: a new version; runs in flight keep the old one, and need a worker with the old code until they end.
--   step `price`: kind was map, now single
SELECT pgflow.create_flow('orders__v2', max_attempts => 4);
SELECT pgflow.add_step('orders__v2', 'fetch');
SELECT pgflow.add_step('orders__v2', 'price', ARRAY['fetch']);
SELECT pgflow.add_step('orders__v2', 'sum', ARRAY['fetch', 'price'], timeout => 30);
SELECT pgflow.add_step('orders__v2', 'tell', ARRAY['sum'], required_input_pattern => '{\"sum\":1}', when_exhausted => 'skip');
SELECT pgflow.expect_steps('orders__v2', ARRAY['fetch', 'price', 'sum', 'tell']);
SELECT pgflow.add_flow_version('orders', 2, 'orders__v2');
";
    assert_eq!(scratch.read("migrations/0002_create_orders_v2.sql"), expected);
}

#[test]
fn a_flow_is_dropped_only_when_asked() {
    let scratch = base();
    assert!(scratch.migrations().drop_flow("orders").is_err(), "it is still there");
    scratch.write("src/orders.rs", "");
    assert!(scratch.migrate().is_empty());
    scratch.migrations().drop_flow("orders").expect("dropped");
    assert!(
        scratch
            .read("migrations/0002_drop_orders.sql")
            .ends_with("SELECT pgflow.delete_flow_and_data('orders');\n")
    );
    scratch.write("src/orders.rs", ORDERS);
    assert_eq!(scratch.migrate(), ["0003_create_orders.sql", "pgflow.lock"], "it can come back");
}

#[test]
fn files_are_named_for_the_tool_that_applies_them() {
    use pgflow_build::Style;
    for (style, there, new) in [
        (Style::Refinery, "V7__users.sql", "V8__create_orders.sql"),
        (Style::Plain, "0007_users.sql", "0008_create_orders.sql"),
        (Style::Sqlx, "20260101120000_users.sql", "20260101120001_create_orders.sql"),
    ] {
        let there = format!("migrations/{there}");
        let files = [("src/lib.rs", LIB), ("src/orders.rs", ORDERS), (&there, "select 1;\n")];
        let scratch = Scratch::new(&files);
        scratch.migrations().style(style).migrate().expect("written");
        let text = &scratch.files()[new];
        assert_eq!(text.contains("\nbegin;\n"), style == Style::Plain, "{text}");
        assert_eq!(text.ends_with("commit;\n"), style == Style::Plain, "{text}");
    }
}

#[test]
fn a_migration_that_was_edited_or_lost_is_noticed() {
    let scratch = base();
    let file = "migrations/0001_create_orders.sql";
    let text = scratch.read(file);
    scratch.write(file, &text.replace('\n', "\r\n"));
    assert!(scratch.migrate().is_empty(), "line ends are a matter of the checkout");
    scratch.write(file, &text.replace("'fetch'", "'fetched'"));
    let why = scratch.migrations().migrate().expect_err("changed").to_string();
    assert!(why.contains("`0001_create_orders.sql` of flow `orders` has changed"), "{why}");
    std::fs::remove_file(scratch.dir.join(file)).expect("removed");
    let why = scratch.migrations().migrate().expect_err("gone").to_string();
    assert!(why.contains("is missing"), "{why}");
}

#[test]
fn a_lost_lock_is_made_again_only_if_nothing_else_changed() {
    let scratch = base();
    let lock = scratch.read("pgflow.lock");
    std::fs::remove_file(scratch.dir.join("pgflow.lock")).expect("removed");
    assert_eq!(scratch.migrate(), ["pgflow.lock"]);
    assert_eq!(scratch.read("pgflow.lock"), lock);
    std::fs::remove_file(scratch.dir.join("pgflow.lock")).expect("removed");
    scratch.write("src/orders.rs", &ORDERS.replace("max_attempts = 4", "max_attempts = 5"));
    let why = scratch.migrations().migrate().expect_err("lost").to_string();
    assert!(why.contains("restore `pgflow.lock`"), "{why}");
}
