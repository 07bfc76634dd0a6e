//! `expect_steps`: a migration does not build on somebody else's flow of the same name.

use crate::harness::{Db, define};

#[tokio::test]
async fn a_flow_with_exactly_these_steps_is_what_was_meant() {
    let db = Db::with(&define("f", &["a", "b map after a"])).await;
    db.run("select pgflow.expect_steps('f', array['b', 'a'], array['b'])").await;
}

#[tokio::test]
async fn another_flow_of_the_same_name_is_refused() {
    let db = Db::with(&define("f", &["a", "b map after a"])).await;
    for (arguments, strange) in [
        ("array['a']", "b"),
        ("array['b'], array['b']", "a"),
        ("array['a', 'b']", "b"),
        ("array['b', 'a'], array['a', 'b']", "a"),
    ] {
        let failure = db.error(&format!("select pgflow.expect_steps('f', {arguments})")).await;
        let text = format!("Flow \"f\" is there already, and is another one: it has \"{strange}\"");
        assert_eq!((&*failure.message, &*failure.code), (&*text, "23505"), "{arguments}");
    }
}

#[tokio::test]
async fn a_flow_that_lacks_a_step_is_not_what_was_meant() {
    let db = Db::with(&define("f", &["a"])).await;
    let failure = db.error("select pgflow.expect_steps('f', array['c', 'a', 'b'])").await;
    let text = "Flow \"f\" is not there as expected: it lacks \"c\", \"b\"";
    assert_eq!((&*failure.message, &*failure.code), (text, "P0002"));
    let failure = db.error("select pgflow.expect_steps('g', '{}')").await;
    assert_eq!(&*failure.code, "P0002");
}
