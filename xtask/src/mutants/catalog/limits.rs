//! Payloads that are too much.

use crate::mutants::mutation::Mutation;

pub(super) const ALL: &[Mutation] = &[
    Mutation {
        name: "limit-bytes",
        file: "functions/_check_payload.sql",
        find: "if v_bytes > v_limits.max_payload_bytes then",
        replace: "if false then",
        why: "one payload could fill the database",
        tests: &["limits"],
    },
    Mutation {
        name: "limit-compressed-bytes",
        file: "functions/_check_payload.sql",
        find: "if pg_column_compression(_check_payload.payload) is not null then",
        replace: "if false then",
        why: "a payload that comes compressed would pass at any size",
        tests: &["limits"],
    },
    Mutation {
        name: "limit-depth",
        file: "functions/_check_payload.sql",
        find: "if jsonb_path_exists(",
        replace: "if false and jsonb_path_exists(",
        why: "one payload could exhaust the stack of whoever reads it",
        tests: &["limits"],
    },
    Mutation {
        name: "limit-fanout-of-root",
        file: "functions/_check_root_elements.sql",
        find: "  perform pgflow._check_fanout(_check_root_elements.elements, 'the run''s input');\n",
        replace: "",
        why: "one start could make millions of tasks",
        tests: &["limits"],
    },
    Mutation {
        name: "limit-fanout-of-output",
        file: "functions/_complete_work.sql",
        find: "    perform pgflow._check_fanouts(p_run_ids, p_step_slugs, p_outputs);\n",
        replace: "",
        why: "one completion could make millions of tasks",
        tests: &["limits"],
    },
    Mutation {
        name: "limit-output",
        file: "functions/_check_results.sql",
        find: "where pg_column_size(o.output) >= 800 or",
        replace: "where false and",
        why: "outputs would have no limits",
        tests: &["limits"],
    },
];
