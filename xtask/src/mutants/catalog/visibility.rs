//! When a message can be read again.

use crate::mutants::mutation::Mutation;

pub(super) const ALL: &[Mutation] = &[
    Mutation {
        name: "vt-retry",
        file: "functions/_settle_failed_messages.sql",
        find: "pgflow._move_messages(v_delayed.flows, v_delayed.ids,",
        replace: "pgflow._move_messages(v_delayed.flows, null,",
        why: "a retry would wait for the timeout instead of the back-off",
        tests: &["settling::retry_delay"],
    },
    Mutation {
        name: "vt-claimed",
        file: "functions/_claim_queue.sql",
        find: "from unnest(v_started.tasks) t where t.timeout <> v_timeout;",
        replace: "from unnest(v_started.tasks) t where false;",
        why: "a step's own timeout would not count in a claim",
        tests: &["work::visibility"],
    },
    Mutation {
        name: "vt-claimed-flow",
        file: "functions/_claim_queue.sql",
        find: "coalesce(v_timeout::float8 + pgflow._lease_grace(), _claim_queue.reservation)",
        replace: "_claim_queue.reservation",
        why: "a claimed task would be handed out again while it runs",
        tests: &["mutants::messages"],
    },
    Mutation {
        name: "vt-nothing-started",
        file: "functions/_claim_queue.sql",
        find: "if coalesce(cardinality(v_started.tasks), 0) < cardinality(v_ids) then",
        replace: "if false then",
        why: "a message that started nothing would be hidden for the whole timeout",
        tests: &["mutants::messages"],
    },
    Mutation {
        name: "vt-started",
        file: "functions/start_tasks.sql",
        find: "+ pgflow._lease_grace()))\n     from unnest(v_started.tasks) t;",
        replace: "+ pgflow._lease_grace()))\n     from unnest(v_started.tasks) t where false;",
        why: "a started task would be handed out again while it runs",
        tests: &["work::visibility"],
    },
    Mutation {
        name: "vt-grace",
        file: "functions/start_tasks.sql",
        find: "array_agg(least(t.timeout, 2147483647 - pgflow._lease_grace()) + pgflow._lease_grace())",
        replace: "array_agg(t.timeout)",
        why: "a task that ends just in time would be handed out again",
        tests: &["work::visibility"],
    },
    Mutation {
        name: "vt-heartbeat",
        file: "functions/heartbeat.sql",
        find: "    perform pgflow.set_vt_batch(v_queue.flow_slug, v_queue.ids, v_queue.seconds);\n",
        replace: "",
        why: "a task that says it is alive would be handed out again",
        tests: &["maintenance::heartbeat"],
    },
    Mutation {
        name: "vt-requeued",
        file: "functions/_sweep.sql",
        find: "v_flows, v_messages, array_fill(0,",
        replace: "v_flows, v_messages, array_fill(60,",
        why: "a task that was taken back would stay hidden",
        tests: &["maintenance::requeue"],
    },
    Mutation {
        name: "vt-start-delay",
        file: "functions/_start_steps.sql",
        find: "coalesce(d.opt_start_delay, 0) as delay",
        replace: "0 as delay",
        why: "a step with a start delay would start at once",
        tests: &["starting::start_delay"],
    },
];
