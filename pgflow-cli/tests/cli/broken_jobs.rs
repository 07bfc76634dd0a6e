//! Jobs that cannot be, as SQLite and MySQL find them. Those of Postgres are broken by the tests of its functions.

use std::time::Duration;

use pgflow_machine::job::{JobVerdict, Moment, NewJob, Wait};
use pgflow_worker_tests::{Fresh, Outcome};

use crate::jobs::{each_with_jobs, settle, take};
use crate::place::change;

/// What is wrong, what does that, and what undoes it.
const BREAKS: &[(&str, &str, &str)] = &[
    (
        "job waiting: waits is 2, but 1 dependencies are open",
        "update pgflow_jobs set waits = 2 where id = 'waiting'",
        "update pgflow_jobs set waits = 1 where id = 'waiting'",
    ),
    (
        "job ghost waits, but is not there",
        "insert into pgflow_job_edges (kind, dependency, waiter, policy) values ('job', 'ready', 'ghost', 'fail')",
        "delete from pgflow_job_edges where waiter = 'ghost'",
    ),
    (
        "job waiting waits for job done, which is over",
        "update pgflow_job_edges set dependency = 'done' where waiter = 'waiting'",
        "update pgflow_job_edges set dependency = 'ready' where waiter = 'waiting'",
    ),
    (
        "job waiting waits for run 01890000-0000-7000-8000-000000000000, which is over",
        "update pgflow_job_edges set kind = 'run', dependency = '01890000-0000-7000-8000-000000000000' where waiter = 'waiting'",
        "update pgflow_job_edges set kind = 'job', dependency = 'ready' where waiter = 'waiting'",
    ),
    (
        "job ready is leased, but its lease is not as it should be",
        "update pgflow_jobs set state = 'leased' where id = 'ready'",
        "update pgflow_jobs set state = 'ready' where id = 'ready'",
    ),
    (
        "job leased is ready, but its lease is not as it should be",
        "update pgflow_jobs set state = 'ready' where id = 'leased'",
        "update pgflow_jobs set state = 'leased' where id = 'leased'",
    ),
    (
        "lease of no job: 999999",
        "insert into pgflow_job_leases (job, token, until, worker) values (999999, 't', 1, 'w')",
        "delete from pgflow_job_leases where job = 999999",
    ),
    (
        "key k is held by ready, which has no lease",
        "update pgflow_job_keys set holder = 'ready' where holder = 'leased'",
        "update pgflow_job_keys set holder = 'leased' where holder = 'ready'",
    ),
    (
        "job leased is leased and does not hold its key",
        "update pgflow_job_keys set holder = 'ready' where holder = 'leased'",
        "update pgflow_job_keys set holder = 'leased' where holder = 'ready'",
    ),
    (
        "job parked is ready, but its key is held",
        "update pgflow_jobs set state = 'ready' where id = 'parked'",
        "update pgflow_jobs set state = 'parked' where id = 'parked'",
    ),
    (
        "job head is parked behind nobody",
        "update pgflow_jobs set state = 'parked' where id = 'head'",
        "update pgflow_jobs set state = 'ready' where id = 'head'",
    ),
    (
        "heads",
        "update pgflow_jobs set state = 'ready' where id = 'behind'",
        "update pgflow_jobs set state = 'parked' where id = 'behind'",
    ),
    (
        "job ready is live and archived",
        "update pgflow_job_archive set id = 'ready' where id = 'done'",
        "update pgflow_job_archive set id = 'done' where id = 'ready'",
    ),
    (
        "without a moment to wake",
        "update pgflow_jobs set wake_at = null where id = 'asleep'",
        "update pgflow_jobs set wake_at = 9000000000000000 where id = 'asleep'",
    ),
    (
        "job ready waits for itself, through others",
        "insert into pgflow_job_edges (kind, dependency, waiter, policy) values ('job', 'waiting', 'ready', 'fail')",
        "delete from pgflow_job_edges where waiter = 'ready'",
    ),
];

/// What is stored beside the priority, because the server has no index in descending order.
const OF_MYSQL: (&str, &str, &str) = (
    "job ready has another urgency than priority",
    "update pgflow_jobs set urgency = 7 where id = 'ready'",
    "update pgflow_jobs set urgency = 0 where id = 'ready'",
);

fn job(id: &str, need: &str, key: Option<&str>) -> Outcome<NewJob> {
    Ok(NewJob { key: key.map(str::to_owned), ..NewJob::new(id.parse()?, need, 1) })
}

/// Jobs of every kind.
async fn fill(place: &Fresh) -> Outcome {
    let hour = Some(Moment::In(Duration::from_hours(1)));
    let jobs = [
        job("done", "first", None)?,
        job("leased", "n", Some("k"))?,
        job("parked", "n", Some("k"))?,
        job("head", "m", Some("h"))?,
        job("behind", "m", Some("h"))?,
        job("ready", "m", None)?,
        NewJob { wake: hour, ..job("asleep", "m", None)? },
        NewJob { after: vec![Wait::job("ready".parse()?)], ..job("waiting", "m", None)? },
    ];
    for answer in place.db.backend().jobs()?.submit_jobs(&jobs, "me").await? {
        answer?;
    }
    let done = take(place, "w", "first").await?;
    settle(place, done, JobVerdict::Finished(1.into())).await?;
    take(place, "w", "n").await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_that_cannot_be_are_found() -> Outcome {
    for place in each_with_jobs().await? {
        let is_mysql = place.url.starts_with("mysql:");
        if !is_mysql && !place.url.starts_with("sqlite:") {
            continue;
        }
        fill(&place).await?;
        let backend = place.db.backend();
        for (expected, harm, mend) in BREAKS.iter().chain(is_mysql.then_some(&OF_MYSQL)) {
            assert_eq!(backend.check().await?, [""; 0], "before {expected}");
            change(&place.url, harm, "").await?;
            let found = backend.check().await?;
            let is_found = found.iter().any(|it| it.contains(expected));
            assert!(is_found, "{}: {expected}: {found:?}", backend.name());
            change(&place.url, mend, "").await?;
        }
        assert_eq!(backend.check().await?, [""; 0]);
    }
    Ok(())
}
