//! Claims at the same time.

use std::collections::BTreeSet;

use super::database;

/// Each session looks with locks and leases what it saw: nothing is had twice, and nobody waits for another.
#[tokio::test]
async fn no_message_is_leased_twice() {
    let db = database().await;
    // It would have to hold something.
    db.run("delete from pgflow.job_messages where job = 'c'").await;
    db.run("select pgflow.submit_jobs(array(select 'm' || n from generate_series(1, 400) n), array_fill('q'::text, array[400]))").await;
    let mut sessions = Vec::new();
    for worker in 0..4 {
        let mut session = db.session().await;
        sessions.push(tokio::spawn(async move {
            let mut got = Vec::new();
            loop {
                session.run("begin; set local lock_timeout = '5s'").await;
                let look = "select name from pgflow.look_at_queue('w', 'q', null, null, 7, true) where what = 'message'";
                let seen = session.rows(look).await;
                if seen.is_empty() {
                    session.run("commit").await;
                    return got;
                }
                let lease = format!(
                    "select id from pgflow.lease_messages('w{worker}', '{{{}}}', 60)",
                    seen.join(",")
                );
                let leased = session.rows(&lease).await;
                session.run("commit").await;
                assert_eq!(leased, seen, "what is seen with a lock can be had");
                got.extend(leased);
            }
        }));
    }
    let mut all = Vec::new();
    for session in sessions {
        all.extend(session.await.expect("a session"));
    }
    assert_eq!(all.len(), all.iter().collect::<BTreeSet<_>>().len());
    assert_eq!(all.len(), 405);
    db.check().await;
}
