//! What flows and inputs are refused.

use crate::mutants::mutation::Mutation;

pub(super) const ALL: &[Mutation] = &[
    Mutation {
        name: "root-map-needs-array",
        file: "functions/_count_root_elements.sql",
        find: "elsif jsonb_typeof(_count_root_elements.input) <> 'array' then",
        replace: "elsif false then",
        why: "the error for a wrong input would be one that nobody understands",
        tests: &["starting::root_map"],
    },
    Mutation {
        name: "root-map-needs-input",
        file: "functions/_count_root_elements.sql",
        find: "if _count_root_elements.input is null then",
        replace: "if false then",
        why: "the error for a missing input would be one that nobody understands",
        tests: &["starting::root_map"],
    },
    Mutation {
        name: "map-with-one-dependency",
        file: "functions/add_step.sql",
        find: "if v_type = 'map' and cardinality(v_deps) > 1 then",
        replace: "if v_type = 'map' and cardinality(v_deps) > 2 then",
        why: "a map could depend on two steps and know the tasks of neither",
        tests: &["definition::add_step"],
    },
    Mutation {
        name: "step-with-other-dependencies",
        file: "functions/_assert_same_deps.sql",
        find: "if v_stored <> v_given then",
        replace: "if false then",
        why: "a changed definition would be taken for the stored one",
        tests: &["definition::add_step"],
    },
    Mutation {
        name: "flow-slug-length",
        file: "functions/create_flow.sql",
        find: "if octet_length(create_flow.flow_slug) > 47 and",
        replace: "if false and",
        why: "a flow would get a queue of another name, or none",
        tests: &["definition::"],
    },
    Mutation {
        name: "flow-slug-case",
        file: "functions/create_flow.sql",
        find: "and f.flow_slug <> create_flow.flow_slug;",
        replace: "and false;",
        why: "two flows would share a queue",
        tests: &["definition::"],
    },
    Mutation {
        name: "shape-data-loss",
        file: "functions/ensure_flow_compiled.sql",
        find: "elsif not coalesce(ensure_flow_compiled.allow_data_loss, false) then",
        replace: "elsif false then",
        why: "a changed flow would delete its runs unasked",
        tests: &["shapes::ensure_flow_compiled"],
    },
    Mutation {
        name: "shape-dependencies",
        file: "functions/_compare_step_shapes.sql",
        find: "if v_a is distinct from v_b then",
        replace: "if false then",
        why: "a flow with other edges would be taken for the stored one",
        tests: &["shapes::compare"],
    },
    Mutation {
        name: "batch-lengths",
        file: "functions/_check_batch.sql",
        find: "  if (cardinality(run_ids)",
        replace: "  if false and (cardinality(run_ids)",
        why: "results would be given to the wrong tasks",
        tests: &["settling::batch_"],
    },
];
