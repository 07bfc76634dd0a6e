//! What is appended, and what is refused.

use super::{append, texts};
use crate::harness::Db;

#[tokio::test]
async fn a_stream_can_be_written_and_read_from_psql() {
    let db = Db::new().await;
    assert_eq!(db.one(&append("logs", "me", 0, &["a", "b"])).await, "appended|0|2");
    assert_eq!(db.one(&append("logs", "you", 0, &["c"])).await, "appended|2|1");
    assert_eq!(db.one(&append("logs", "me", 1, &["b", "d"])).await, "appended|3|1");
    assert_eq!(db.one(&append("logs", "me", 7, &["z"])).await, "gap|3|0");
    assert_eq!(texts(&db, "logs").await, ["0|a", "1|b", "2|c", "3|d"]);
    let part = "select number from pgflow.read_chunks('logs', 1, 2)";
    assert_eq!(db.rows(part).await, ["1", "2"]);
    let stands = "select next_number, has_ended, is_over from pgflow.read_chunks('logs', 9)";
    assert_eq!(db.one(stands).await, "4|f|f");
    assert_eq!(db.one("select outcome from pgflow.close_stream('logs', 'broke')").await, "closed");
    assert_eq!(
        db.one("select outcome, error from pgflow.close_stream('logs')").await,
        "ended|broke"
    );
    let late = append("logs", "me", 3, &["e"]).replace("appended from", "appended, error from");
    assert_eq!(db.one(&late).await, "ended|NULL|0|broke");
    let stands = "select next_number, has_ended, error, is_over from pgflow.read_chunks('logs', 4)";
    assert_eq!(db.one(stands).await, "4|t|broke|t");
    db.check().await;
}

#[tokio::test]
async fn what_cannot_be_a_chunk_or_a_name_is_refused() {
    let db = Db::new().await;
    db.run("update pgflow.limits set max_payload_bytes = 1024").await;
    let large = "select pgflow.append_chunks('s', 'w', 0, array[repeat('x', 1025)::bytea])";
    assert_eq!(db.error(large).await.code, "54000");
    let together =
        "select pgflow.append_chunks('s', 'w', 0, array[repeat('x', 1024)::bytea, 'y'::bytea])";
    assert_eq!(db.error(together).await.code, "54000");
    let many = "select pgflow.append_chunks('s', 'w', 0, array_fill(''::bytea, array[1001]))";
    assert_eq!(db.error(many).await.code, "54000");
    for (call, code) in [
        ("append_chunks('s', 'w', 0, null)", "22004"),
        ("append_chunks('s', 'w', 0, array[null]::bytea[])", "22004"),
        ("append_chunks('s', 'w', -1, '{a}')", "22023"),
        ("append_chunks('s', 'w', null, '{a}')", "22023"),
        ("append_chunks('', 'w', 0, '{a}')", "22023"),
        ("append_chunks(null, 'w', 0, '{a}')", "22023"),
        ("append_chunks('s', '', 0, '{a}')", "22023"),
        ("append_chunks(repeat('s', 129), 'w', 0, '{a}')", "22023"),
        ("close_stream('')", "22023"),
    ] {
        assert_eq!(db.error(&format!("select pgflow.{call}")).await.code, code, "{call}");
    }
    assert_eq!(db.one("select count(*) from pgflow.streams").await, "0");
}

#[tokio::test]
async fn a_stream_of_its_own_goes_when_its_time_is_over() {
    let db = Db::new().await;
    db.run(&append("young", "me", 0, &["a"])).await;
    db.run("select pgflow.append_chunks('old', 'me', 0, '{a}', lasts => '0 seconds')").await;
    let week = "select expires_at - now() between '6 days' and '8 days' from pgflow.streams where name = 'young'";
    assert_eq!(db.one(week).await, "t");
    assert_eq!(db.one("select pgflow.prune_streams()").await, "1");
    assert_eq!(db.rows("select name from pgflow.list_streams()").await, ["young"]);
    assert_eq!(db.one("select count(*) from pgflow.stream_chunks").await, "1");
    db.check().await;
}

#[tokio::test]
async fn one_that_is_deleted_and_written_again_is_another_one() {
    let db = Db::new().await;
    let which = "select stream from pgflow.read_chunks('logs', 9)";
    assert_eq!(db.one(which).await, "NULL");
    let append = "select pgflow.append_chunks('logs', 'me', 0, '{x}', '0 s')";
    db.run(append).await;
    let first = db.one(which).await;
    db.run("select pgflow.prune_streams()").await;
    db.run(append).await;
    let second = db.one(which).await;
    assert!(second != first && second != "NULL" && first != "NULL", "{first}, {second}");
}
