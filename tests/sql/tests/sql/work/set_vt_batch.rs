//! `set_vt_batch`.

use crate::harness::{Db, define};

async fn three_messages() -> Db {
    let db = Db::with(&define("f", &["m map"])).await;
    db.start("f", "[1, 2, 3]").await;
    db
}

#[tokio::test]
async fn each_message_gets_its_own_delay() {
    let db = three_messages().await;
    let call = "pgflow.set_vt_batch(queue_name => 'f', msg_ids => array[1, 3, 99], vt_offsets => array[10, 30, 5])";
    let row = "msg_id, read_ct, ceil(extract(epoch from vt - clock_timestamp())), message->>'task_index', headers";
    let rows = db.rows(&format!("select {row} from {call} order by msg_id")).await;
    assert_eq!(rows, ["1|0|10|0|NULL", "3|0|30|2|NULL"], "unknown ids are ignored");
    let visible = "select msg_id from pgmq.q_f where vt <= clock_timestamp()";
    assert_eq!(db.rows(visible).await, ["2"]);
    db.check().await;
}

#[tokio::test]
async fn the_columns_are_those_of_a_message() {
    let db = three_messages().await;
    let columns = "select k from (select to_json(t) as row
        from pgflow.set_vt_batch('f', array[2], array[0]) t) r, json_object_keys(row) k";
    let expected = ["msg_id", "read_ct", "enqueued_at", "vt", "message", "headers"];
    assert_eq!(db.rows(columns).await, expected);
}

#[tokio::test]
async fn offsets_may_be_negative_and_read_ct_stays() {
    let db = three_messages().await;
    db.run("select pgmq.read('f', 60, 1)").await;
    let rows = db.rows(
        "select read_ct, vt < clock_timestamp() from pgflow.set_vt_batch('f', array[1], array[-5])",
    );
    assert_eq!(rows.await, ["1|t"]);
}

#[tokio::test]
async fn nothing_in_nothing_out() {
    let db = three_messages().await;
    for arrays in ["null, null", "null, array[1]", "array[1]::bigint[], null", "'{}', '{}'"] {
        let rows = db.rows(&format!("select * from pgflow.set_vt_batch('f', {arrays})")).await;
        assert_eq!(rows, [""; 0], "{arrays}");
    }
}

#[tokio::test]
async fn lengths_must_agree() {
    let db = three_messages().await;
    let failure = db.error("select pgflow.set_vt_batch('f', array[1, 2], array[1])").await;
    assert_eq!(failure.to_string(), "P0001 msg_ids length (2) must equal vt_offsets length (1)");
}

#[tokio::test]
async fn an_unknown_queue_has_no_table() {
    let db = three_messages().await;
    let failure =
        db.error("select pgflow.set_vt_batch('nonexistent_queue', array[1], array[1])").await;
    assert_eq!(failure.to_string(), "42P01 relation \"pgmq.q_nonexistent_queue\" does not exist");
}

#[tokio::test]
async fn a_queue_name_is_no_place_for_sql() {
    let db = three_messages().await;
    for name in ["f; drop table pgflow.runs", "f'--", "f$$", "f--"] {
        let call = format!(
            "select pgflow.set_vt_batch({}, array[1], array[1])",
            crate::harness::lit(name)
        );
        db.error(&call).await;
    }
    let failure = db
        .error(
            "select pgflow.set_vt_batch('f\" set vt = now(), message = ''{}', array[1], array[1])",
        )
        .await;
    assert_ne!(failure.code, "42601", "{failure}");
    db.check().await;
}
