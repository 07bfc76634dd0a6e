//! What `add_step` refuses, word for word.

use crate::harness::{Db, define};

async fn refusals(db: &Db, cases: &[(&str, &str)]) {
    let before = db.rows("select to_jsonb(s) from pgflow.steps s order by step_index").await;
    for (arguments, expected) in cases {
        let failure = db.error(&format!("select pgflow.add_step({arguments})")).await;
        assert_eq!(failure.to_string(), *expected, "add_step({arguments})");
    }
    let after = db.rows("select to_jsonb(s) from pgflow.steps s order by step_index").await;
    assert_eq!(before, after);
    db.check().await;
}

#[tokio::test]
async fn broken_checks_have_their_names() {
    let db = Db::with(&define("f", &["a"])).await;
    let row = |constraint: &str| {
        format!("23514 new row for relation \"steps\" violates check constraint \"{constraint}\"")
    };
    let cases = [
        ("'f', 'run'", row("steps_step_slug_check")),
        ("'f', '1st'", row("steps_step_slug_check")),
        ("'f', 'b', step_type => 'loop'", row("steps_step_type_check")),
        ("'f', 'b', when_unmet => 'wait'", row("when_unmet_is_valid")),
        ("'f', 'b', when_exhausted => 'wait'", row("when_exhausted_is_valid")),
        ("'f', 'b', required_input_pattern => '[1]'", row("required_input_pattern_is_object")),
        ("'f', 'b', forbidden_input_pattern => '1'", row("forbidden_input_pattern_is_object")),
        ("'f', 'b', start_delay => -1", row("opt_start_delay_is_nonnegative")),
        ("'f', 'b', max_attempts => -1", row("opt_max_attempts_is_nonnegative")),
        ("'f', 'b', base_delay => -1", row("opt_base_delay_is_nonnegative")),
        ("'f', 'b', timeout => 0", row("opt_timeout_is_positive")),
    ];
    let cases: Vec<_> = cases.iter().map(|(call, text)| (*call, text.as_str())).collect();
    refusals(&db, &cases).await;
}

#[tokio::test]
async fn unknown_flows_and_dependencies_break_foreign_keys() {
    let db = Db::with(&define("f", &["a"])).await;
    let flow = "23503 insert or update on table \"steps\" violates foreign key constraint \
                \"steps_flow_slug_fkey\"";
    let dep = "23503 insert or update on table \"deps\" violates foreign key constraint \
               \"deps_flow_slug_dep_slug_fkey\"";
    let own = "23514 new row for relation \"deps\" violates check constraint \"deps_check\"";
    let cases = [
        ("'nope', 'b'", flow),
        ("'f', 'b', array['nope']", dep),
        ("'f', 'b', array['a', 'nope']", dep),
        ("'f', 'b', array['b']", own),
    ];
    refusals(&db, &cases).await;
    assert_eq!(db.one("select count(*) from pgflow.flows").await, "1");
}

#[tokio::test]
async fn a_map_has_one_dependency_at_most() {
    let db = Db::with(&define("f", &["a", "b"])).await;
    let text = "P0001 Map step \"m\" can have at most one dependency, but 2 were provided: a, b";
    refusals(&db, &[("'f', 'm', array['a', 'b'], step_type => 'map'", text)]).await;
}

#[tokio::test]
async fn modes_may_not_be_null() {
    let db = Db::with(&define("f", &["a"])).await;
    for mode in ["when_unmet", "when_exhausted"] {
        let failure = db.error(&format!("select pgflow.add_step('f', 'b', {mode} => null)")).await;
        assert_eq!(failure.code, "23502");
        assert!(failure.message.contains(mode), "{failure}");
    }
    db.check().await;
}

#[tokio::test]
async fn two_steps_never_share_an_index() {
    let db = Db::with(&define("f", &["a"])).await;
    let row = "insert into pgflow.steps (flow_slug, step_slug, step_index) values ('f', 'b', 0)";
    let text =
        "23505 duplicate key value violates unique constraint \"steps_flow_slug_step_index_key\"";
    assert_eq!(db.error(row).await.to_string(), text);
}
