//! What else is done while sessions work on the same few runs: jobs, messages, streams, schedules, and what clients call of flows.
//!
//! `{run}` is one of the runs, `{worker}` the session's worker, `{n}` a small number and `{new}` a name that nobody has. `{held}` are some of
//! the session's tasks as arrays, `{leased}` jobs of anybody that are leased, and `{jobs}` any jobs.

/// Beside all that is done to runs by [`super::same_runs_actor`]: what, how often in proportion, and how.
pub(super) const BESIDES: &[(&str, usize, &str)] = &[
    ("start_flow", 1, "select run_id from pgflow.start_flow('f', '[1, 2]')"),
    ("start with states", 1, "select left(pgflow.start_flow_with_states('f', '[1]')::text, 1)"),
    (
        "complete one", 1,
        "select c.status from {held} pgflow.complete_task(k.runs[1], k.steps[1], k.indexes[1], '[1]', k.attempts[1]) c",
    ),
    (
        "fail one", 1,
        "select c.status from {held} pgflow.fail_task(k.runs[1], k.steps[1], k.indexes[1], 'boom', k.attempts[1]) c",
    ),
    (
        "yield", 4,
        "select outcome from {held} pgflow.yield_tasks(k.runs, k.steps, k.indexes, k.attempts, array_fill(60, k.size), array_fill('later'::text, k.size))",
    ),
    ("resume", 4, "select pgflow.resume_tasks(array['f'])"),
    ("signal task", 1, "select outcome from pgflow.signal_task({run}, 'a', 0, '[1]', null, '1 second')"),
    ("prune runs", 1, "select pgflow.prune_runs('0 seconds', 3)"),
    ("prune by snippet", 1, "select pgflow.prune_data_older_than(interval '0'); select 'done'"),
    ("configure", 1, "select flow_slug from pgflow.configure_flow('f', retry_jitter => 0.1)"),
    ("flow options", 1, "select flow_slug from pgflow.set_flow_options('f', base_delay => 0)"),
    ("interface", 1, "select pgflow.set_flow_interface('f', '{n}'); select 'done'"),
    ("schema", 1, "select pgflow.set_flow_input_schema('f', '{\"maxItems\": 9{n}}'); select 'done'"),
    ("stop", 1, "select pgflow.mark_worker_stopped('{worker}'); select 'done'"),
    ("track", 1, "select pgflow.track_worker_function('f'); select 'done'"),
    (
        "trip", 1,
        "select outcome from {held} {leased} pgflow.settle_and_claim_all(
           k.runs, k.steps, k.indexes, array_fill('[1]'::jsonb, k.size), k.attempts, queue_names => array['f'], qty => 0,
           job_ids => j.ids, job_tokens => j.tokens, job_verdicts => array_fill('finished'::text, j.size), worker => '{worker}',
           wanted_needs => array['n0', 'n1'], wanted_parts => array[1, 1], part_seconds => array[1], part_quotas => array[2])",
    ),
    // Jobs.
    (
        "submit", 4,
        "select id from pgflow.submit_jobs(array['{new}a', '{new}b'], array['n{n}', 'n0'], keys => array['k{n}', null], max_attempts => array[2, null])",
    ),
    (
        "submit after", 2,
        "select id from pgflow.submit_jobs(array['{new}a', '{new}b'], array['n{n}', 'n1'], edge_jobs => array[2, 2], edge_kinds => array['job', 'run'],
           dependencies => array['{new}a', {run}], policies => array['fail', 'release'])",
    ),
    ("claim jobs", 6, "select id from pgflow.claim_jobs('{worker}', array['n0', 'n1', 'n{n}'], 1, 3)"),
    ("beat jobs", 1, "select outcome from {leased} pgflow.beat_jobs(j.ids, j.tokens, 2)"),
    ("finish jobs", 1, "select outcome from {leased} pgflow.finish_jobs(j.ids, j.tokens)"),
    ("fail jobs", 3, "select outcome from {leased} pgflow.fail_jobs(j.ids, j.tokens, array_fill('boom'::text, j.size))"),
    ("hand over", 1, "select outcome from {leased} pgflow.reschedule_jobs(j.ids, j.tokens, array_fill('n{n}'::text, j.size))"),
    ("release jobs", 1, "select outcome from {leased} pgflow.release_jobs(j.ids, j.tokens)"),
    (
        "settle jobs", 2,
        "select outcome from {leased} pgflow.settle_jobs(j.ids, j.tokens, array_fill('failed'::text, j.size), errors => array_fill('boom'::text, j.size))",
    ),
    (
        "settle job", 1,
        "select outcome from {leased} pgflow.settle_job(j.ids[1], j.tokens[1], '{\"verdict\": \"finished\", \"forks\": [{\"id\": \"{new}\", \"need\": \"n0\"}]}')",
    ),
    ("unknown jobs", 1, "select pgflow.release_unknown_jobs('{worker}', '{}', '{}')"),
    ("cancel jobs", 1, "select outcome from {jobs} pgflow.cancel_jobs(j.ids)"),
    ("sweep jobs", 1, "select lapsed + concerns + ended + expired + woken from pgflow.sweep_jobs()"),
    ("redrive", 3, "select outcome from pgflow.redrive_jobs(need => 'n{n}', max_jobs => 3)"),
    ("clear", 1, "select outcome from {jobs} pgflow.clear_concern(j.ids)"),
    ("put elsewhere", 1, "select outcome from {jobs} pgflow.reschedule_unheld_jobs(j.ids, array_fill('n{n}'::text, j.size))"),
    ("declare done", 1, "select outcome from {jobs} pgflow.complete_unheld_jobs(j.ids)"),
    ("job settings", 1, "select pgflow.set_job_settings(notify => true); select 'done'"),
    ("drop dead", 1, "select pgflow.drop_dead_jobs(array(select pgflow.find_jobs(true, outcome => 'failed', max_jobs => 3)))"),
    ("prune jobs", 1, "select pgflow.prune_jobs('2 seconds', 5)"),
    ("pause", 1, "select pgflow.pause_needs(array['n2'], 'me')"),
    ("go on", 1, "select pgflow.resume_needs(array['n2'])"),
    // Messages.
    ("capacity", 1, "select pgflow.set_capacity('gpu', 1000000); select 'done'"),
    ("rate", 1, "select pgflow.set_rate('calls', 5); select 'done'"),
    (
        "push", 3,
        "select pgflow.submit_jobs(array['{new}'], array['q']); select pgflow.keep_messages(array['{new}'], array['k'], array['{\"gpu\": 1}'::jsonb]); select 'done'",
    ),
    (
        "take messages", 3,
        "with known as materialized (
           select 1 + (p.state ->> 'fence')::bigint as fence from pgflow.load_permits(array['resource'], array['gpu'], true) p
         ), seen as materialized (
           select array_agg(l.name) as ids from known,
             pgflow.look_at_queue('{worker}', 'q', array['resource'], array['gpu'], 3, true) l where l.what = 'message' having count(*) > 0
         ), leased as materialized (
           select array_agg(l.id) as ids, array_agg(l.token) as tokens, array[count(*)::int] as size
             from seen s, pgflow.lease_messages('{worker}', s.ids, 1) l having count(*) > 0
         ), noted as materialized (
           select k.fence from leased, known k,
             pgflow.note_permits(array['resource'], array['gpu'], array[jsonb_build_object('capacity', 1000000, 'fence', k.fence)])
         )
         select l.ids[1] from leased l, noted k, pgflow.hold_permits(array_fill('gpu'::text, l.size), l.ids, l.tokens,
           array_fill('b' || k.fence, l.size), array_fill(1, l.size), array_fill(k.fence, l.size))",
    ),
    ("take the first messages", 1, "select id from pgflow.claim_messages('{worker}', 'n{n}', 1, 3)"),
    (
        "end messages", 1,
        "select s.outcome from {leased} lateral (
           select s.* from pgflow.settle_jobs(j.ids, j.tokens, array_fill('finished'::text, j.size)) s) s, pgflow.end_messages(j.tokens, j.ids)",
    ),
    ("look at holds", 1, "select count(*) from pgflow.load_holds(array['gpu']); select 'done'"),
    ("turns", 1, "select pgflow.note_permits(array['turn', 'round'], array['1:q:k{n}', 'q'], array['{n}', '{n}']::jsonb[]); select 'done'"),
    ("prune turns", 1, "select pgflow.prune_turns('q')"),
    // Streams.
    ("append", 1, "select outcome from pgflow.append_chunks('s{n}', '{new}', 0, array['x'::bytea], '0 seconds')"),
    ("close", 1, "select outcome from pgflow.close_stream('s{n}', null, '0 seconds')"),
    (
        "emit", 1,
        "select outcome from {held} pgflow.append_step_chunks(k.runs[1], k.steps[1], k.indexes[1], k.attempts[1], 0, array['x'::bytea])",
    ),
    (
        "end of emits", 1,
        "select outcome from {held} pgflow.close_step_stream(k.runs[1], k.steps[1], k.indexes[1], k.attempts[1])",
    ),
    ("prune streams", 1, "select pgflow.prune_streams(5)"),
    // Schedules.
    (
        "schedule", 2,
        "select pgflow.create_schedule('s{n}', 'f', '@daily', '[1]', first_at => clock_timestamp() + interval '1 hour', overlap => 'skip')",
    ),
    ("pause schedule", 1, "select pgflow.pause_schedule('s{n}')"),
    ("resume schedule", 1, "select pgflow.resume_schedule('s{n}')"),
    ("remove schedule", 1, "select pgflow.remove_schedule('s{n}')"),
    (
        "tick", 1,
        "select a.outcome from pgflow.schedules s, pgflow.advance_schedule(
           s.name, s.revision, array[clock_timestamp() - interval '1 millisecond'], array[gen_random_uuid()], clock_timestamp() + interval '1 hour') a
          where s.name = 's{n}'",
    ),
];

/// Functions that change something, as the catalog has it, and are not among all this; and why.
pub(super) const EXCUSED: &[(&str, &str)] = &[
    ("get_jobs", "reads"),
    ("list_jobs", "reads"),
    ("read_job_trace", "reads"),
    ("next_job", "reads"),
    ("next_wait", "reads"),
    ("needs_waking", "reads"),
    ("more_messages", "reads"),
    ("batch_messages", "passes over what others have"),
    (
        "hold_for_tasks",
        "writes about attempts that its transaction has just begun, with permits locked as for `hold_permits`",
    ),
    ("give_up_holds", "passes over what others have"),
    ("reset_jobs", "is for the owner of a database between tests, and empties tables"),
    ("grant_roles", "is part of the installation, whose lock it runs under"),
    ("set_vt_batch", "is a part of heartbeats and claims, which know in which order it comes"),
];
