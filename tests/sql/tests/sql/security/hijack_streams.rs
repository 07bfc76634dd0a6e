//! One call of each function of streams that runs as the owner.

pub(super) const CALLS: &[(&str, &str)] = &[
    ("append_chunks", "select pgflow.append_chunks('s', 'w', 0, '{x,yy}')"),
    ("append_step_chunks", "select pgflow.append_step_chunks(RUN, 'a', 0, 1, 0, '{x,yy}')"),
    ("close_step_stream", "select pgflow.close_step_stream(RUN, 'a', 0, 1)"),
    ("read_chunks", "select pgflow.read_chunks('s')"),
    ("read_step_chunks", "select pgflow.read_step_chunks(RUN, 'a')"),
    ("list_streams", "select pgflow.list_streams(); select pgflow.list_streams(RUN)"),
    ("close_stream", "select pgflow.close_stream('s', 'x', '0 seconds')"),
    ("prune_streams", "select pgflow.prune_streams()"),
];
