//! Which queues are touched, and when.

use crate::mutants::mutation::Mutation;

pub(super) const ALL: &[Mutation] = &[
    Mutation {
        name: "queue-of-a-stranger",
        file: "functions/_use_queue.sql",
        find: "  if not exists (select from pgflow.flows f where f.flow_slug = _use_queue.flow_slug) then",
        replace: "  if false then",
        why: "a worker could hide messages of other applications",
        tests: &["work::foreign_queues"],
    },
    Mutation {
        name: "queue-polled-of-a-stranger",
        file: "functions/poll_for_tasks.sql",
        find: "  if not exists (select from pgflow.flows f where f.flow_slug = poll_for_tasks.queue_name) then",
        replace: "  if false then",
        why: "a poll of a queue that is none would look like an idle one",
        tests: &["work::foreign_queues", "work::poll_for_tasks"],
    },
    Mutation {
        name: "queue-deleted-of-a-stranger",
        file: "functions/delete_flow_and_data.sql",
        find: "  if not exists (select from pgflow.flows f where f.flow_slug = p_flow_slug) then\n    return;\n  end if;\n",
        replace: "",
        why: "deleting a flow that is none would drop the queue of somebody else",
        tests: &["work::foreign_queues"],
    },
    Mutation {
        name: "queue-spelled-differently",
        file: "functions/_refuse_strange_queue.sql",
        find: "where lower(q.queue_name) = lower(_refuse_strange_queue.flow_slug) and",
        replace: "where false and",
        why: "a flow would share the tables of another application's queue",
        tests: &["work::foreign_queues"],
    },
    Mutation {
        name: "queue-of-another-owner",
        file: "functions/_refuse_strange_queue.sql",
        find: "     and not pg_has_role(c.relowner, n.nspowner, 'usage');",
        replace: "     and false;",
        why: "the owner of a queue could run code with the rights of the core's owner",
        tests: &["work::foreign_queues"],
    },
    Mutation {
        name: "queue-being-deleted",
        file: "functions/_use_queue.sql",
        find: "in access share mode nowait'",
        replace: "in access share mode'",
        why: "claims and sweeps would wait for the deletion of a flow, and fail with it",
        tests: &["concurrency::beside_deletion"],
    },
    Mutation {
        name: "queue-broken",
        file: "functions/_claim_among.sql",
        find: "    raise warning 'queue % cannot be claimed: %', _claim_among.queue_name, sqlerrm;",
        replace: "    raise;",
        why: "what is wrong with one queue would keep all others from being claimed",
        tests: &["work::heavy"],
    },
    Mutation {
        name: "lane-of-tasks-tried-before",
        file: "functions/_make_way.sql",
        find: "where s.index between $3 and",
        replace: "where s.index between ''999999'' and",
        why: "a wide map whose tasks were delayed or failed once would hold up all that comes after it",
        tests: &["work::fair"],
    },
];
