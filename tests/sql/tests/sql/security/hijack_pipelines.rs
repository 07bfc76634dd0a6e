//! One call of each function of pipelines that runs as the owner.

pub(super) const CALLS: &[(&str, &str)] = &[
    ("set_capacity", "select pgflow.set_capacity('gpu', 1); select pgflow.set_capacity('gpu', 2)"),
    (
        "set_rate",
        "select pgflow.set_rate('r', 1); select pgflow.set_rate('r', 60, interval '1 minute', 5)",
    ),
    (
        "note_permits",
        "select pgflow.note_permits('{round,turn}', '{q,k}', array['1', '2']::pg_catalog.jsonb[]);
         select pgflow.note_permits('{round,turn}', '{q,k}', array['3', '4']::pg_catalog.jsonb[])",
    ),
    (
        "load_permits",
        "select pgflow.load_permits('{resource}', '{gpu}', true); select pgflow.load_permits('{resource}', '{gpu}', true, false)",
    ),
    (
        "keep_messages",
        "select pgflow.submit_jobs('{q1,q2}', '{q,q}'); select pgflow.keep_messages('{q1}', '{k}', array['{\"gpu\": 1}']::pg_catalog.jsonb[])",
    ),
    (
        "look_at_queue",
        "select pgflow.look_at_queue('w', 'q', '{resource}', '{gpu}', 9); select pgflow.look_at_queue('w', 'q', '{resource}', '{gpu}', 9, true)",
    ),
    ("more_messages", "select pgflow.more_messages('q', 9, 0, 0)"),
    ("batch_messages", "select pgflow.batch_messages('q', '{k}', 9, 0, 0, true)"),
    ("lease_messages", "select pgflow.lease_messages('w', '{q1,q2}', 60)"),
    ("claim_messages", "select pgflow.claim_messages('w', 'q', 60, 9)"),
    ("hold_permits", "select pgflow.hold_permits('{gpu}', '{q1}', '{x}', '{b}', '{1}', '{1}')"),
    ("give_up_holds", "select pgflow.give_up_holds(array[gen_random_uuid()], '{a}', '{0}', '{1}')"),
    (
        "hold_for_tasks",
        "select pgflow.hold_for_tasks('{gpu}', array[gen_random_uuid()], '{a}', '{0}', '{1}', '{1}', '{1}')",
    ),
    ("list_permits", "select pgflow.list_permits('resource')"),
    ("queue_depth", "select pgflow.queue_depth('q', 9)"),
    ("get_message", "select pgflow.get_message('q1')"),
    ("prune_turns", "select pgflow.prune_turns('q', 9)"),
    ("load_holds", "select pgflow.load_holds('{gpu}')"),
    (
        "end_messages",
        "select pgflow.end_messages('{00000000-0000-4000-8000-000000000000}', '{q2}', '{q1}', '{1}')",
    ),
    ("drop_dead_jobs", "select pgflow.drop_dead_jobs('{q1}')"),
];
