//! One call of each function of jobs that runs as the owner.

/// In an order in which each finds something to do.
pub(super) const CALLS: &[(&str, &str)] = &[
    (
        "submit_jobs",
        "select pgflow.submit_jobs('{j1,j2,j3,j4,j5,j6,j7}', '{n,n,n,n,n,n,n}', keys => '{k,k,NULL,NULL,NULL,NULL,NULL}',
           max_attempts => '{1,1,1,1,1,1,1}', edge_jobs => '{7}', dependencies => '{j6}', policies => '{fail}')",
    ),
    ("claim_jobs", "select pgflow.claim_jobs('w', '{n}', 60, 1)"),
    ("beat_jobs", "select pgflow.beat_jobs(pg_catalog.array_agg(id), pg_catalog.array_agg(token), 60) from pgflow.claim_jobs('w', '{n}', 60, 1)"),
    (
        "release_jobs",
        "select pgflow.release_jobs(pg_catalog.array_agg(id), pg_catalog.array_agg(token)) from pgflow.claim_jobs('w', '{n}', 60, 1)",
    ),
    (
        "reschedule_jobs",
        "select pgflow.reschedule_jobs(pg_catalog.array_agg(id), pg_catalog.array_agg(token), '{m}', edge_jobs => '{1}', dependencies => '{j6}')
           from pgflow.claim_jobs('w', '{n}', 60, 1)",
    ),
    (
        "finish_jobs",
        "select pgflow.finish_jobs(pg_catalog.array_agg(id), pg_catalog.array_agg(token)) from pgflow.claim_jobs('w', '{n}', 60, 1)",
    ),
    (
        "fail_jobs",
        "select pgflow.fail_jobs(pg_catalog.array_agg(id), pg_catalog.array_agg(token), '{x}') from pgflow.claim_jobs('w', '{n}', 60, 1)",
    ),
    (
        "settle_jobs",
        "select pgflow.submit_jobs('{s1,s2,s3}', '{s,s,s}');
         select pgflow.settle_jobs(pg_catalog.array_agg(id), pg_catalog.array_agg(token), '{failed,handed_over,released}', errors => '{x,x,x}', needs => '{s,t,s}')
           from pgflow.claim_jobs('w', '{s}', 60, 3)",
    ),
    (
        "settle_job",
        r#"select pgflow.settle_job(id, token, '{"verdict": "handed_over", "need": "t", "after": [{"kind": "job", "id": "s4", "policy": "fail"}],
             "forks": [{"id": "s4", "need": "u", "payload": 1, "wake_at": 0, "after": []}]}') from pgflow.claim_jobs('w', '{t}', 60, 1)"#,
    ),
    (
        "settle_and_claim_all",
        "select pgflow.submit_jobs('{t1,t2,t3}', '{v,v,v}', edge_jobs => '{3}', dependencies => '{t1}');
         select pgflow.settle_and_claim_all(job_ids => pg_catalog.array_agg(id), job_tokens => pg_catalog.array_agg(token),
                  job_verdicts => '{finished,released}', worker => 'w', qty => 5, wanted_needs => '{v}', wanted_parts => '{1}',
                  part_seconds => '{60}', part_quotas => '{5}')
           from pgflow.claim_jobs('w', '{v}', 60, 2)",
    ),
    ("holds_job", "select pgflow.holds_job('s1', 'x')"),
    ("next_job", "select pgflow.next_job('{n}')"),
    (
        "release_unknown_jobs",
        "select pgflow.claim_jobs('w', '{s}', 60, 1); select pgflow.release_unknown_jobs('w', '{}', '{}')",
    ),
    ("redrive_jobs", "select pgflow.redrive_jobs(need => 'n', rate => 1)"),
    ("cancel_jobs", "select pgflow.cancel_jobs('{j1,j2}', 'x')"),
    ("clear_concern", "select pgflow.clear_concern('{j1,j2}')"),
    ("complete_unheld_jobs", "select pgflow.complete_unheld_jobs('{j3,j4,j5}')"),
    ("reschedule_unheld_jobs", "select pgflow.reschedule_unheld_jobs('{j6,j7}', '{n,n}')"),
    ("sweep_jobs", "select pgflow.sweep_jobs()"),
    ("get_jobs", "select pgflow.get_jobs('{j1,j2,j3,j4,j5,j6,j7}')"),
    ("find_jobs", "select pgflow.find_jobs(); select pgflow.find_jobs(true)"),
    ("find_jobs_by_name", "select pgflow.find_jobs_by_name('j', null, 10)"),
    ("get_job_summaries", "select pgflow.get_job_summaries('{j1,j2,j3,j4,j5,j6,j7}')"),
    ("count_jobs", "select pgflow.count_jobs(10)"),
    ("get_job_depths", "select pgflow.get_job_depths()"),
    ("get_job_holders", "select pgflow.get_job_holders()"),
    ("get_job_waiters", "select pgflow.get_job_waiters('{j1,j2}')"),
    ("count_prunable_jobs", "select pgflow.count_prunable_jobs('0 seconds', 10)"),
    ("list_jobs", "select pgflow.list_jobs(), pgflow.list_jobs(true)"),
    ("get_job_settings", "select pgflow.get_job_settings()"),
    ("read_job_trace", "select pgflow.read_job_trace('j1')"),
    ("read_job_trace_end", "select pgflow.read_job_trace_end('j1')"),
    ("prune_jobs", "select pgflow.prune_jobs('0 seconds')"),
    ("pause_needs", "select pgflow.pause_needs('{nothing}', 'w')"),
    ("list_paused_needs", "select pgflow.list_paused_needs()"),
    ("resume_needs", "select pgflow.resume_needs('{nothing}')"),
    ("set_job_settings", "select pgflow.set_job_settings(true, true, 3)"),
    ("submit_job", "select pgwf.submit_job('p1', 'w', 'p', '{}', '{}', 'k'); select pgwf.submit_job('p2', 'w', 'p', '{p1}')"),
    ("normalize_wait_for", "select pgwf.normalize_wait_for('{p1}')"),
    ("get_work", "select pgwf.get_work('w', '{nothing}')"),
    (
        "extend_lease",
        "select pgwf.extend_lease(job_id, lease_id, 'w') from pgwf.get_work('w', '{p}')",
    ),
    (
        "reschedule_job",
        "select pgwf.submit_job('p3', 'w', 'q'); select pgwf.reschedule_job(job_id, lease_id, 'w', 'r') from pgwf.get_work('w', '{q}')",
    ),
    ("complete_job", "select pgwf.complete_job(job_id, lease_id, 'w') from pgwf.get_work('w', '{r}')"),
    ("reschedule_unheld_job", "select pgwf.submit_job('p4', 'w', 'q'); select pgwf.reschedule_unheld_job('p4', 'w', 's')"),
    ("clear_crash_concern", "select pgwf.clear_crash_concern('p4', 'w')"),
    ("complete_unheld_job", "select pgwf.complete_unheld_job('p4', 'w')"),
    ("cancel_job", "select pgwf.cancel_job('p2', 'w')"),
    ("archive_cancelled_jobs", "select pgwf.archive_cancelled_jobs('w')"),
    ("set_trace", "select pgwf.set_trace(true)"),
    ("set_notify", "select pgwf.set_notify(false)"),
    ("set_crash_concern_threshold", "select pgwf.set_crash_concern_threshold(5)"),
    ("is_trace_enabled", "select pgwf.is_trace_enabled()"),
    ("is_notify_enabled", "select pgwf.is_notify_enabled()"),
    ("crash_concern_threshold", "select pgwf.crash_concern_threshold()"),
];
