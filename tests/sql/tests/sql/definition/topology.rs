//! Steps exist after what they wait for, in the order of their indexes.

use crate::harness::{Db, define};

#[tokio::test]
async fn the_order_of_indexes_is_a_topological_order() {
    let db =
        Db::with(&define("f", &["d", "a after d", "c after d", "b after a c", "m map after b"]))
            .await;
    let wrong = "select d.* from pgflow.deps d
        join pgflow.steps p on (p.flow_slug, p.step_slug) = (d.flow_slug, d.dep_slug)
        join pgflow.steps c on (c.flow_slug, c.step_slug) = (d.flow_slug, d.step_slug)
        where p.step_index >= c.step_index";
    assert_eq!(db.rows(wrong).await, [""; 0]);
    db.check().await;
}

#[tokio::test]
async fn steps_of_another_flow_do_not_count_as_dependencies() {
    let db = Db::with(&(define("f", &["a"]) + &define("g", &[]))).await;
    let failure = db.error("select pgflow.add_step('g', 'b', array['a'])").await;
    assert_eq!(failure.constraint.as_deref(), Some("deps_flow_slug_dep_slug_fkey"));
    db.check().await;
}

#[tokio::test]
async fn a_flow_with_steps_cannot_lose_its_row() {
    let db = Db::with(&define("f", &["a", "b after a"])).await;
    for (statement, constraint) in [
        ("delete from pgflow.flows", "steps_flow_slug_fkey"),
        ("delete from pgflow.steps where step_slug = 'a'", "deps_flow_slug_dep_slug_fkey"),
        ("delete from pgflow.steps where step_slug = 'b'", "deps_flow_slug_step_slug_fkey"),
    ] {
        let failure = db.error(statement).await;
        assert_eq!(failure.code, "23503", "{failure}");
        let named = failure.constraint.as_deref();
        let flows = statement.contains("flows") && named == Some("deps_flow_slug_fkey");
        assert!(flows || named == Some(constraint), "{failure}");
    }
}
