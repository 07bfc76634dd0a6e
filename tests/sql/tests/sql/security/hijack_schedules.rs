//! One call of each function of schedules that runs as the owner.

pub(super) const CALLS: &[(&str, &str)] = &[
    (
        "create_schedule",
        "select pgflow.create_schedule('s', 'f', '@daily', '[1]', missed => 'all(9)', overlap => 'queue')",
    ),
    (
        "list_schedules",
        "select pgflow.list_schedules(); select pgflow.list_schedules('s', 'f', 'a')",
    ),
    ("next_schedule", "select pgflow.next_schedule('{f}')"),
    ("due_schedules", "select pgflow.due_schedules('{f}', pg_catalog.now(), 9)"),
    (
        "advance_schedule",
        "select pgflow.advance_schedule('s', 1, array[pg_catalog.clock_timestamp()], array[pg_catalog.gen_random_uuid()], null)",
    ),
    ("pause_schedule", "select pgflow.pause_schedule('s')"),
    ("resume_schedule", "select pgflow.resume_schedule('s')"),
    ("remove_schedule", "select pgflow.remove_schedule('s')"),
];
