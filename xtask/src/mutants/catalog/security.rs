//! Who may do what, and whose code runs.

use crate::mutants::mutation::Mutation;

pub(super) const ALL: &[Mutation] = &[
    Mutation {
        name: "security-search-path",
        file: "functions/get_run_with_states.sql",
        find: "set search_path = pg_catalog, pg_temp\n",
        replace: "",
        why: "a caller could have its own code run with the owner's rights",
        tests: &["schema::functions", "security::hijack"],
    },
    Mutation {
        name: "security-temporary-types",
        file: "functions/_time_ordered_uuid.sql",
        find: "set search_path = pg_catalog, pg_temp\n",
        replace: "set search_path = ''\n",
        why: "a temporary type of the caller's would come before the built-in one",
        tests: &["security::hijack"],
    },
    Mutation {
        name: "security-public-functions",
        file: "functions/grant_roles.sql",
        find: "  revoke all on all functions in schema pgflow from public;\n",
        replace: "",
        why: "everybody could call the internals",
        tests: &["security::grants", "security::matrix"],
    },
    Mutation {
        name: "security-public-schema",
        file: "functions/grant_roles.sql",
        find: "  revoke all on schema pgflow from public;\n",
        replace: "  grant usage on schema pgflow to public;\n",
        why: "everybody could look into the schema",
        tests: &["security::grants", "security::matrix"],
    },
    Mutation {
        name: "security-client-settles",
        file: "functions/grant_roles.sql",
        find: "'due_schedules', 'next_schedule'];\n  c_worker",
        replace: "'due_schedules', 'next_schedule', 'complete_task'];\n  c_worker",
        why: "a client could settle tasks",
        tests: &["security::matrix"],
    },
    Mutation {
        name: "security-old-grants",
        file: "functions/_grant_functions.sql",
        find: "  execute format('revoke all on all functions in schema %I from %I', schema_name, role_name);\n",
        replace: "",
        why: "a role would keep what an older version had granted",
        tests: &["mutants::grants"],
    },
    Mutation {
        name: "queue-table-name",
        file: "functions/set_vt_batch.sql",
        find: "pgmq.format_table_name(set_vt_batch.queue_name, 'q')",
        replace: "'q_' || set_vt_batch.queue_name",
        why: "a flow with capitals in its slug would not find its queue",
        tests: &["mutants::messages", "work::set_vt_batch"],
    },
];
