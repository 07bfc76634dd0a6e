//! Cancelling.

use super::{archive, claim, lapse, list, live, settle, submit};
use crate::harness::Db;

#[tokio::test]
async fn what_nobody_works_on_ends_at_once() {
    let db = Db::new().await;
    submit(&db, "n", &["a", "b"]).await;
    let call =
        format!("select * from pgflow.cancel_jobs({}, 'why', 'me')", list(&["a", "zz", "a"]));
    assert_eq!(db.rows(&call).await, ["a|cancelled|NULL", "zz|unknown|NULL", "a|ended|cancelled"]);
    assert_eq!(db.rows(&call).await[0], "a|ended|cancelled");
    let get = "select status, cancel_by, cancel_reason from pgflow.get_jobs(array['a'])";
    assert_eq!(db.one(get).await, "cancelled|me|why");
    assert_eq!(live(&db).await, ["b:n:ready"]);
    db.check().await;
}

#[tokio::test]
async fn a_leased_job_may_finish_and_nothing_else() {
    let db = Db::new().await;
    submit(&db, "n", &["finishes", "fails", "moves", "releases", "lapses"]).await;
    claim(&db, &["n"], 5).await;
    let all = list(&["finishes", "fails", "moves", "releases", "lapses"]);
    let cancel = format!("select distinct outcome from pgflow.cancel_jobs({all})");
    assert_eq!(db.rows(&cancel).await, ["asked"]);
    assert_eq!(db.rows(&cancel).await, ["asked"], "again");
    assert_eq!(live(&db).await.len(), 5);
    assert_eq!(settle(&db, "beat_jobs", "finishes", ", 60").await, "cancelled");
    for (function, id, more) in [
        ("finish_jobs", "finishes", ""),
        ("fail_jobs", "fails", ", array['x'], array[1000]"),
        ("reschedule_jobs", "moves", ", array['m']"),
        ("release_jobs", "releases", ""),
    ] {
        let expected = if id == "finishes" { "applied" } else { "cancelled" };
        assert_eq!(settle(&db, function, id, more).await, expected, "{id}");
        db.check().await;
    }
    lapse(&db, &["lapses"]).await;
    assert_eq!(claim(&db, &["n", "m"], 5).await, [""; 0]);
    assert_eq!(live(&db).await, [""; 0], "the claim ended it");
    assert_eq!(
        archive(&db).await,
        [
            "finishes:done",
            "fails:cancelled",
            "moves:cancelled",
            "releases:cancelled",
            "lapses:cancelled"
        ]
    );
    db.check().await;
}

/// A lease that ran out unnoticed is counted first: that may have been the end.
#[tokio::test]
async fn a_lost_lease_is_counted_before() {
    let db = Db::new().await;
    submit(&db, "n", &["goes on"]).await;
    super::submit_with(&db, "last", "n", "max_attempts => array[1], keys => array['k']").await;
    super::submit_with(&db, "next", "n", "keys => array['k']").await;
    assert_eq!(claim(&db, &["n"], 9).await, ["goes on", "last"]);
    lapse(&db, &["goes on", "last"]).await;
    let call = format!("select * from pgflow.cancel_jobs({})", list(&["goes on", "last"]));
    assert_eq!(db.rows(&call).await, ["goes on|cancelled|NULL", "last|ended|crashed"]);
    assert_eq!(archive(&db).await, ["goes on:cancelled", "last:crashed"]);
    assert_eq!(db.one("select lapses from pgflow.job_archive where id = 'goes on'").await, "1");
    assert_eq!(claim(&db, &["n"], 9).await, ["next"]);
    db.check().await;
}
