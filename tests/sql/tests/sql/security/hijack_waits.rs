//! One call of each function of waits that runs as the owner.

pub(super) const CALLS: &[(&str, &str)] = &[
    (
        "announce_hooks",
        "select pgflow.claim_tasks('{f}', 9); select pgflow.announce_hooks(array[RUN]::pg_catalog.uuid[], '{a}', '{0}', '{1}')",
    ),
    (
        "wait_tasks",
        "select pgflow.wait_tasks(array[RUN, RUN]::pg_catalog.uuid[], '{a,a}', '{0,0}', '{1,2}', array[
           '{\"on\": \"hook\", \"token\": \"t\", \"timeout\": 0, \"schema\": {\"type\": \"number\", \"anyOf\": [true]}}',
           '{\"on\": \"runs\", \"children\": [{\"flow\": \"f\", \"input\": [1]}]}']::pg_catalog.jsonb[])",
    ),
    ("count_late_waits", "select pgflow.count_late_waits('1 minute')"),
    ("list_waits", "select pgflow.list_waits(); select pgflow.list_waits(RUN, 't')"),
    ("next_wait", "select pgflow.next_wait('{f}')"),
    ("needs_waking", "select pgflow.needs_waking()"),
    ("signal", "select pgflow.signal('t', '1', 'r'); select pgflow.signal('other', '[1]')"),
    ("signal_task", "select pgflow.signal_task(RUN, 'a', 0, '1', 'r')"),
    ("wake_waits", "select pgflow.wake_waits()"),
    ("cancel_abandoned", "select pgflow.cancel_abandoned()"),
];
