//! Options and versions of flows that are there already, and how their events are read.

use crate::mutants::mutation::Mutation;

pub(super) const ALL: &[Mutation] = &[
    Mutation {
        name: "flow-options-defaults",
        file: "functions/set_flow_options.sql",
        find: "coalesce(set_flow_options.timeout, 60)",
        replace: "coalesce(set_flow_options.timeout, f.opt_timeout)",
        why: "an option that was taken out of the source would stay in the database",
        tests: &["definition::options"],
    },
    Mutation {
        name: "step-options-flow",
        file: "functions/set_step_options.sql",
        find: "where s.flow_slug = set_step_options.flow_slug and s.step_slug",
        replace: "where s.step_slug",
        why: "a step of the same name in another flow would get the options",
        tests: &["definition::options"],
    },
    Mutation {
        name: "version-newest",
        file: "functions/current_flow.sql",
        find: "order by v.version desc",
        replace: "order by v.version",
        why: "new runs would be started by the oldest version for ever",
        tests: &["definition::versions"],
    },
    Mutation {
        name: "version-other-flow",
        file: "functions/add_flow_version.sql",
        find: "if v_version.flow_slug <> add_flow_version.flow_slug then",
        replace: "if false then",
        why: "two programs would mean different flows by one version",
        tests: &["definition::versions"],
    },
    Mutation {
        name: "expected-steps-of-strangers",
        file: "functions/expect_steps.sql",
        find: "s.step_slug <> all (coalesce(expect_steps.step_slugs, '{}'))",
        replace: "false",
        why: "two programs would share a flow that neither of them knows",
        tests: &["definition::expect_steps"],
    },
    Mutation {
        name: "expected-steps-kind",
        file: "functions/expect_steps.sql",
        find: "or (s.step_type = 'map') <> (s.step_slug = any (coalesce(expect_steps.map_slugs, '{}')))",
        replace: "",
        why: "a map would be taken for a single step of the same name",
        tests: &["definition::expect_steps"],
    },
    Mutation {
        name: "version-without-queue",
        file: "functions/get_flow_versions.sql",
        find: "if pgflow._use_queue(flow_slug) then",
        replace: "if true then",
        why: "one queue that is gone would hide all versions",
        tests: &["definition::versions"],
    },
    Mutation {
        name: "events-cursor",
        file: "functions/read_events.sql",
        find: "e.seq > coalesce(read_events.after, 0)",
        replace: "e.seq >= coalesce(read_events.after, 0)",
        why: "a reader would see the last event of each page twice",
        tests: &["events::read_events"],
    },
];
