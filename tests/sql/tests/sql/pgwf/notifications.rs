//! Announcements on `pgwf.need.…`.

use sqlx::postgres::PgListener;

use super::{lapse, lease, submit};
use crate::harness::Db;

/// What was announced on these channels by the time a last word came, as `channel id`.
async fn announced(db: &Db, listener: &mut PgListener) -> Vec<String> {
    db.run("select pg_notify('pgwf.need.end', 'end')").await;
    let mut heard = Vec::new();
    loop {
        let note = listener.recv().await.expect("a notification");
        if note.channel() == "pgwf.need.end" {
            return heard;
        }
        heard.push(format!(
            "{} {}",
            note.channel().trim_start_matches("pgwf.need."),
            note.payload()
        ));
    }
}

async fn listener(db: &Db, needs: &[&str]) -> PgListener {
    let mut listener = PgListener::connect(&db.url()).await.expect("a connection");
    for need in needs {
        listener.listen(&format!("pgwf.need.{need}")).await.expect("listening");
    }
    listener.listen("pgwf.need.end").await.expect("listening");
    listener
}

#[tokio::test]
async fn a_job_is_announced_when_it_can_be_leased_and_not_before() {
    let db = Db::new().await;
    let mut ears = listener(&db, &["n", "Need.M"]).await;
    submit(&db, "n", &["silent"]).await;
    assert_eq!(announced(&db, &mut ears).await, [""; 0], "off by default");
    db.run("select pgwf.set_notify(true)").await;
    submit(&db, "n", &["x"]).await;
    db.run("select pgwf.submit_job('waits', 'w', 'Need.M', '{x}')").await;
    db.run(
        "select pgwf.submit_job('sleeps', 'w', 'n', p_available_at => now() + interval '1 hour')",
    )
    .await;
    db.run(
        "select pgwf.submit_job('expired', 'w', 'n', p_expires_at => now() - interval '1 hour')",
    )
    .await;
    assert_eq!(announced(&db, &mut ears).await, ["n x"]);
    db.run("select pgwf.complete_unheld_job('x', 'w')").await;
    assert_eq!(announced(&db, &mut ears).await, ["Need.M waits"], "a released dependency");
    db.run("select pgwf.submit_job('k1', 'w', 'n', p_singleton_key => 'k'); select pgwf.submit_job('k2', 'w', 'n', p_singleton_key => 'k')").await;
    assert_eq!(announced(&db, &mut ears).await, ["n k1"]);
    db.run("select pgwf.complete_unheld_job('k1', 'w')").await;
    assert_eq!(announced(&db, &mut ears).await, ["n k2"], "a freed key");
    db.run("select pgwf.reschedule_unheld_job('k2', 'w', 'Need.M')").await;
    assert_eq!(announced(&db, &mut ears).await, ["Need.M k2"]);
    db.check().await;
}

/// Also what those who hold a lease, and the archive, let go on.
#[tokio::test]
async fn what_a_held_job_lets_go_on_is_announced() {
    let db = Db::new().await;
    let mut ears = listener(&db, &["n", "m", "after"]).await;
    db.run("select pgwf.set_notify(true)").await;
    submit(&db, "n", &["x", "y"]).await;
    db.run("select pgwf.submit_job('w1', 'w', 'after', '{x}'); select pgwf.submit_job('w2', 'w', 'after', '{y}')").await;
    assert_eq!(announced(&db, &mut ears).await, ["n x", "n y"]);
    let token = lease(&db, "n", "x").await;
    db.run(&format!("select pgwf.reschedule_job('x', '{token}', 'w', 'm')")).await;
    assert_eq!(announced(&db, &mut ears).await, ["m x"], "handed over");
    let token = lease(&db, "m", "x").await;
    db.run(&format!("select pgwf.complete_job('x', '{token}', 'w')")).await;
    assert_eq!(announced(&db, &mut ears).await, ["after w1"], "completed");
    db.run("select pgwf.cancel_job('y', 'ops')").await;
    assert_eq!(announced(&db, &mut ears).await, [""; 0], "only asked for");
    db.run("select pgwf.archive_cancelled_jobs('ops')").await;
    assert_eq!(announced(&db, &mut ears).await, ["after w2"], "archived");
    let sleeps = "select pgwf.reschedule_unheld_job('w1', 'w', 'm', p_available_at => now() + interval '1 hour')";
    db.run(sleeps).await;
    assert_eq!(announced(&db, &mut ears).await, [""; 0], "it sleeps");
    db.check().await;
}

/// Nobody can lease it, whatever frees it.
#[tokio::test]
async fn a_job_that_has_expired_is_not_announced() {
    let db = Db::new().await;
    let mut ears = listener(&db, &["n", "m"]).await;
    let over = "p_expires_at => now() - interval '1 day'";
    submit(&db, "n", &["x", "handed"]).await;
    db.run(&format!("select pgwf.submit_job('waits', 'w', 'm', array['x'], {over})")).await;
    db.run("select pgwf.submit_job('first', 'w', 'k', p_singleton_key => 'k')").await;
    db.run(&format!("select pgwf.submit_job('next', 'w', 'm', p_singleton_key => 'k', {over})"))
        .await;
    db.run("select pgwf.submit_job('last', 'w', 'm', p_singleton_key => 'k')").await;
    lease(&db, "k", "first").await;
    let token = db
        .one("select lease_id from pgwf.get_work('w', array['n'], 60, 2) where job_id = 'handed'")
        .await;
    db.run("update pgflow.jobs set expires_at = created_at where id = 'handed'; select pgwf.set_notify(true)").await;
    db.run("select pgwf.complete_job(job_id, lease_id, 'w') from pgwf.jobs where job_id in ('x', 'first')").await;
    db.run(&format!("select pgflow.release_jobs(array['handed'], array['{token}'])")).await;
    db.run("select pgwf.clear_crash_concern('handed', 'ops')").await;
    assert_eq!(announced(&db, &mut ears).await, ["m last"]);
    db.check().await;
}

#[tokio::test]
async fn a_cleared_concern_is_announced() {
    let db = Db::new().await;
    let mut ears = listener(&db, &["n"]).await;
    submit(&db, "n", &["x"]).await;
    db.run("select pgwf.set_notify(true); select pgwf.set_crash_concern_threshold(1)").await;
    for _ in 0..2 {
        lease(&db, "n", "x").await;
        lapse(&db, "x").await;
    }
    db.rows("select pgwf.get_work('w', array['n'])").await;
    db.run("select pgwf.clear_crash_concern('x', 'ops')").await;
    assert_eq!(announced(&db, &mut ears).await, ["n x"]);
}

#[tokio::test]
async fn a_need_that_is_too_long_for_a_channel_is_still_submitted() {
    let db = Db::new().await;
    db.run("select pgwf.set_notify(true); select pgwf.submit_job('x', 'w', repeat('n', 54)); select pgwf.submit_job('y', 'w', repeat('n', 1000))").await;
    assert_eq!(
        db.one("select job_id from pgwf.get_work('w', array[repeat('n', 1000)])").await,
        "y"
    );
}

#[tokio::test]
async fn an_empty_get_work_listens() {
    let db = Db::new().await;
    let mut session = db.session().await;
    let listens = "select pg_listening_channels() order by 1";
    session.run("select pgwf.get_work('w', array['a'])").await;
    assert_eq!(session.rows(listens).await, [""; 0], "notifications are off");
    session.run("select pgwf.set_notify(true)").await;
    session.run("select pgwf.get_work('w', array['a', 'B.c', null, 'd'])").await;
    assert_eq!(session.rows(listens).await, ["pgwf.need.B.c", "pgwf.need.a"]);
    submit(&db, "a", &["x"]).await;
    let mut other = db.session().await;
    other.run("select pgwf.get_work('w', array['a'])").await;
    assert_eq!(other.rows(listens).await, [""; 0], "it got something");
}

/// The transactions of workers announce nothing unless they are told to.
#[tokio::test]
async fn the_hot_path_notifies_nobody() {
    let db = Db::new().await;
    let mut ears = listener(&db, &["n", "m"]).await;
    let life = "select pgflow.submit_jobs(array['x', 'y', 'z'], array['n', 'm', 'n'], keys => array['k', null, 'k'],
          edge_jobs => array[2], dependencies => array['x']);
        select pgflow.finish_jobs(array_agg(id), array_agg(token)) from pgflow.claim_jobs('w', array['n'], 60, 1)";
    db.run(life).await;
    assert_eq!(announced(&db, &mut ears).await, [""; 0]);
    db.run("select pgwf.set_notify(true)").await;
    db.run(&life.replace("'x'", "'x2'").replace("'y'", "'y2'").replace("'z'", "'z2'")).await;
    assert!(!announced(&db, &mut ears).await.is_empty());
    db.check().await;
}
