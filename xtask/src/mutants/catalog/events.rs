//! Events that must be there, once, with what they say.

use crate::mutants::mutation::Mutation;

pub(super) const ALL: &[Mutation] = &[
    Mutation {
        name: "event-run-completed",
        file: "functions/maybe_complete_run.sql",
        find: "    perform pgflow._record_events(array[maybe_complete_run.run_id], array['run:completed']);\n",
        replace: "    null;\n",
        why: "nobody would hear that the run is over",
        tests: &["starting::", "skipping::conditions"],
    },
    Mutation {
        name: "event-run-cancelled",
        file: "functions/_cancel_runs.sql",
        find: "'run:cancelled'::text",
        replace: "'run:failed'::text",
        why: "a cancelled run would be said to have failed",
        tests: &["maintenance::cancel_run"],
    },
    Mutation {
        name: "event-step-started",
        file: "functions/start_ready_steps.sql",
        find: "    perform pgflow._record_events(v_runs, array(select 'step:started ' || k from unnest(v_steps) k));\n",
        replace: "",
        why: "a step that waited for a condition would start unheard",
        tests: &["skipping::start_ready", "skipping::conditions"],
    },
    Mutation {
        name: "event-recording-off",
        file: "functions/_record_events.sql",
        find: "where (select r.record_events from pgflow.runs r where r.run_id = e.run_id);",
        replace: ";",
        why: "a flow that is to record nothing would record",
        tests: &["events::off"],
    },
    Mutation {
        name: "event-numbers",
        file: "functions/_record_events.sql",
        find: "0) + cardinality(e.events)",
        replace: "0) + cardinality(e.events) + 1",
        why: "a reader with a cursor would wait for a number that never comes",
        tests: &["events::order"],
    },
    Mutation {
        name: "event-skip-error",
        file: "functions/_skip_steps.sql",
        find: "when _skip_steps.error_message is not null then",
        replace: "when false then",
        why: "the event of a step skipped after failures would not say which",
        tests: &["events::payload"],
    },
    Mutation {
        name: "event-failure-message",
        file: "functions/_fail_step.sql",
        find: "array[v_step, v_run]",
        replace: "array[v_step, null]",
        why: "the event of a failed run would not say why",
        tests: &["events::payload", "settling::exhausted"],
    },
];
