//! Cancelling.

use super::{archive, claim, lapse, list, live, settle, submit};
use crate::harness::Db;

#[tokio::test]
async fn what_nobody_works_on_ends_at_once() {
    let db = Db::new().await;
    submit(&db, "n", &["a", "b"]).await;
    let call = format!(
        "select id, outcome from pgflow.cancel_jobs({}, 'why', 'me')",
        list(&["a", "zz", "a"])
    );
    assert_eq!(db.rows(&call).await, ["a|applied", "zz|unknown", "a|applied"]);
    assert_eq!(db.rows(&call).await, ["a|already_settled", "zz|unknown", "a|already_settled"]);
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
    db.run(&format!("select pgflow.cancel_jobs({all})")).await;
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
    assert_eq!(live(&db).await, ["lapses:n:cancelled a1 l1 s1"]);
    db.run("select pgflow.sweep_jobs()").await;
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
