//! What a call reads does not depend on how many jobs there are, even if it was planned when there were none.

use crate::harness::{Db, Session};

/// A life of fifty jobs, most of a worker's calls in it, each with the index entries that it reads.
async fn life(session: &mut Session, first: u32) -> Vec<(&'static str, u64)> {
    let ids = format!("array(select 'j' || n from generate_series({first}, {first} + 49) n)");
    let of = |from: u32, to: u32| {
        format!(
            "(select array_agg(id) from (select id from held order by id offset {from} limit {to}) i)"
        )
    };
    let tokens = |from: u32, to: u32| {
        format!(
            "(select array_agg(token::text) from (select token from held order by id offset {from} limit {to}) i)"
        )
    };
    let keys = format!("array(select 'k' || n % 5 from generate_series({first}, {first} + 49) n)");
    let filled = |word: &str, count: u32| format!("array_fill({word}, array[{count}])");
    let calls = [
        ("submit", format!("select from pgflow.submit_jobs({ids}, {})", filled("'n'::text", 50))),
        (
            "claim",
            "create temp table held as select * from pgflow.claim_jobs('w', array['n'], 60, 50)"
                .to_owned(),
        ),
        ("beat", format!("select from pgflow.beat_jobs({}, {}, 60)", of(0, 50), tokens(0, 50))),
        (
            "hand over",
            format!(
                "select from pgflow.reschedule_jobs({}, {}, {})",
                of(0, 10),
                tokens(0, 10),
                filled("'m'::text", 10)
            ),
        ),
        (
            "fail",
            format!(
                "select from pgflow.fail_jobs({}, {}, {})",
                of(10, 10),
                tokens(10, 10),
                filled("'e'::text", 10)
            ),
        ),
        ("finish", format!("select from pgflow.finish_jobs({}, {})", of(20, 30), tokens(20, 30))),
        (
            "finish again",
            format!("select from pgflow.finish_jobs({}, {})", of(20, 30), tokens(20, 30)),
        ),
        ("cancel", format!("select from pgflow.cancel_jobs({})", of(0, 20))),
        ("forget", "drop table held".to_owned()),
        (
            "submit with keys",
            format!(
                "select from pgflow.submit_jobs({}, {}, keys => {keys})",
                ids.replace("'j'", "'k'"),
                filled("'k'::text", 50)
            ),
        ),
        (
            "claim keys",
            "create temp table held as select * from pgflow.claim_jobs('w', array['k'], 60, 50)"
                .to_owned(),
        ),
        (
            "finish keys",
            format!("select from pgflow.finish_jobs({}, {})", of(0, 50), tokens(0, 50)),
        ),
        ("cancel keys", format!("select from pgflow.cancel_jobs({})", ids.replace("'j'", "'k'"))),
        ("forget keys", "drop table held".to_owned()),
    ];
    let mut read = Vec::new();
    for (what, call) in calls {
        read.push((what, session.entries_read(&call).await));
    }
    read
}

#[tokio::test]
async fn calls_planned_on_vacuumed_empty_tables_are_flat() {
    let db = Db::new().await;
    db.run("vacuum analyze").await;
    let mut session = db.session().await;
    life(&mut session, 1_000).await;
    let few = life(&mut session, 2_000).await;
    // Nobody has analyzed since.
    db.run(
        "select count(*) from pgflow.submit_jobs(
           array(select 'other' || n from generate_series(1, 20000) n), array_fill('other'::text, array[20000]))",
    )
    .await;
    // Those that nobody polls for are in nobody's way, whatever has become of them.
    db.run("update pgflow.jobs set state = 'sleeping', wake_at = created_at where need = 'other' and seq % 2 = 0").await;
    db.run(
        "update pgflow.jobs set state = 'leased', token = gen_random_uuid(), worker = 'w', attempts = 1,
           lease_until = now(), look_at = now() where need = 'other' and seq % 2 = 1",
    )
    .await;
    for ((what, few), (_, many)) in few.into_iter().zip(life(&mut session, 3_000).await) {
        println!("{what}: {few} entries, then {many}");
        assert!(many < few * 2 + 500, "{what}: {many} entries instead of {few}");
    }
    db.check().await;
}
