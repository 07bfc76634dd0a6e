//! A result or a sign of life from an attempt that is no longer the current one.

use crate::mutants::mutation::Mutation;

pub(super) const ALL: &[Mutation] = &[
    Mutation {
        name: "fence-complete",
        file: "functions/_complete_task_rows.sql",
        find: " and (i.attempt is null or t.attempts_count = i.attempt)",
        replace: "",
        why: "a zombie's late result would replace that of the attempt that runs",
        tests: &["settling::fence"],
    },
    Mutation {
        name: "fence-part-of-map",
        file: "functions/_complete_part_of_map.sql",
        find: " and (i.attempt is null or t.attempts_count = i.attempt)",
        replace: "",
        why: "a zombie's late result of a map task would replace that of the attempt that runs",
        tests: &["settling::part_of_map"],
    },
    Mutation {
        name: "fence-retry",
        file: "functions/_retry_task_rows.sql",
        find: " and (i.attempt is null or t.attempts_count = i.attempt)",
        replace: "",
        why: "a zombie's failure would take the task away from a healthy attempt",
        tests: &["settling::fence"],
    },
    Mutation {
        name: "fence-last-attempt",
        file: "functions/_fail_task_row.sql",
        find: "and (_fail_task_row.attempt is null or t.attempts_count = _fail_task_row.attempt)",
        replace: "",
        why: "a zombie's failure next to an exhausted task would take effect",
        tests: &["mutants::fences"],
    },
    Mutation {
        name: "fence-type-violation",
        file: "functions/_fail_type_violation.sql",
        find: "and (_fail_type_violation.attempt is null or t.attempts_count = _fail_type_violation.attempt)",
        replace: "",
        why: "a zombie's output of the wrong type would fail the run",
        tests: &["settling::fence"],
    },
    Mutation {
        name: "fence-heartbeat",
        file: "functions/heartbeat.sql",
        find: " and t.attempts_count = i.attempt",
        replace: "",
        why: "a zombie would be told that it still holds the task",
        tests: &["maintenance::heartbeat"],
    },
    Mutation {
        name: "fence-outcome",
        file: "functions/_outcomes.sql",
        find: "or i.attempt <> t.attempts_count then 'fenced'",
        replace: "then 'fenced'",
        why: "a superseded worker would be told that its result had counted",
        tests: &["mutants::fences"],
    },
];
