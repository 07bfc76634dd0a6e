//! Every invariant that the checker can report is broken at least once.

use std::collections::BTreeSet;

use super::{
    breaks_events, breaks_jobs, breaks_messages, breaks_pipelines, breaks_runs, breaks_schedules,
    breaks_steps, breaks_streams, breaks_tasks, breaks_waits,
};
use crate::harness::Db;

#[tokio::test]
async fn no_invariant_is_left_out() {
    let db = Db::new().await;
    let names = "select distinct m[1] from pg_proc,
            regexp_matches(prosrc, $$(?:select|then|else) '([a-z]+_[a-z_]+)'$$, 'g') m
        where pronamespace = 'pgflow'::regnamespace
            and proname ~ 'check'
            and pg_get_function_result(oid) = 'TABLE(invariant text, run_id uuid, detail text)'";
    let reported: BTreeSet<_> = db.rows(names).await.into_iter().collect();
    let breaks = [
        breaks_runs::BREAKS,
        breaks_steps::BREAKS,
        breaks_tasks::BREAKS,
        breaks_messages::BREAKS,
        breaks_events::BREAKS,
        breaks_jobs::BREAKS,
        breaks_streams::BREAKS,
        breaks_waits::BREAKS,
        breaks_schedules::BREAKS,
        breaks_pipelines::BREAKS,
    ];
    let broken: BTreeSet<_> = breaks.concat().iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(reported, broken);
}

#[tokio::test]
async fn the_checker_looks_at_everything_it_has() {
    let db = Db::new().await;
    let unused = "select proname from pg_proc p where pronamespace = 'pgflow'::regnamespace
        and pg_get_function_result(oid) = 'TABLE(invariant text, run_id uuid, detail text)' and proname <> 'check'
        and not exists (select from pg_proc c where c.proname = 'check' and c.pronamespace = p.pronamespace
            and c.prosrc ~ ('pgflow\\.' || p.proname || '\\('))";
    assert_eq!(db.rows(unused).await, [""; 0]);
}
