//! What `check()` cannot see, and why: the value stands nowhere else in the database, and another one would
//! be as good.

/// Columns, how they are corrupted, and why nothing can tell. `opt_*` stands for every column of that prefix that is
/// not listed by its own name; `*` alone for the row.
pub(super) type Unseen = (&'static [&'static str], &'static [&'static str], &'static str);

const MOMENT: &[&str] = &["past", "now", "future"];
const NUMBER: &[&str] = &["+1", "-1", "+1000"];

pub(super) const UNSEEN: &[Unseen] = &[
    (
        &[
            "pgflow.flows.created_at",
            "pgflow.steps.created_at",
            "pgflow.deps.created_at",
            "pgflow.flow_versions.created_at",
        ],
        MOMENT,
        "when something was defined is written once and used by nothing",
    ),
    (
        &[
            "pgflow.flows.opt_max_attempts",
            "pgflow.flows.opt_timeout",
            "pgflow.limits.max_fanout",
            "pgflow.limits.max_payload_bytes",
        ],
        NUMBER,
        "options and limits are the user's to choose, also while runs are under way",
    ),
    (
        &["pgflow.flows.opt_base_delay"],
        &["+1", "+1000"],
        "an option; below 0 a constraint refuses it",
    ),
    (&["pgflow.flows.interface"], &["other"], "a hash that programs give"),
    (&["pgflow.flows.input_schema"], &["other"], "a schema that programs give"),
    (&["pgflow.workers.host"], &["other"], "what workers say about themselves"),
    (
        &["pgflow.workers.pid", "pgflow.workers.slots"],
        &["+1000"],
        "what workers say about themselves",
    ),
    (&["pgflow.limits.max_depth"], &["+1"], "a limit; elsewhere a constraint refuses it"),
    (&["pgflow.limits.max_output_bytes"], &["-1"], "a limit; elsewhere a constraint refuses it"),
    (
        &["pgflow.flows.record_events", "pgflow.flows.retry_jitter"],
        &["other"],
        "options of runs to come",
    ),
    (&["pgflow.steps.opt_*"], &["+1000"], "options that no step of the bench has"),
    (
        &["pgflow.steps.opt_max_attempts"],
        &["null", "+1", "-1", "+1000"],
        "an option, also of runs under way",
    ),
    (&["pgflow.steps.opt_timeout"], &["null", "+1", "+1000"], "an option, also of runs under way"),
    (
        &["pgflow.steps.required_input_pattern"],
        &["null", "other"],
        "conditions may change; a decision stays",
    ),
    (
        &["pgflow.steps.forbidden_input_pattern"],
        &["other"],
        "conditions may change; a decision stays",
    ),
    (&["pgflow.flow_versions.flow_name"], &["other"], "a name that the user gave"),
    (&["pgflow.flow_versions.version"], &["+1", "+1000"], "numbers need not be dense"),
    (&["pgflow.flow_versions.*"], &["deleted"], "a flow without versions is as good"),
    (&["pgflow.runs.input"], &["other"], "the only copy, unless a root map opens it"),
    (
        &["pgflow.step_states.output_bytes"],
        &["null"],
        "it is measured where it is not known, as of runs from before there was the column",
    ),
    (&["pgflow.workers.fetches_outputs"], &["other"], "what workers say about themselves"),
    (
        &["pgflow.step_states.remaining_deps"],
        &["-1"],
        "of a step that was skipped with what it depends on: no longer counted by anybody",
    ),
    (
        &["pgflow.step_tasks.attempts_count"],
        &["+1", "+1000"],
        "the fence: what counts is that it differs from older ones",
    ),
    (&["pgflow.step_tasks.refunded_count"], &["-1"], "attempts may be counted or not"),
    (
        &[
            "pgflow.step_tasks.completed_at",
            "pgflow.step_tasks.failed_at",
            "pgflow.step_tasks.started_at",
        ],
        &["now"],
        "a moment that could have been; before the start or far in the future it could not",
    ),
    (
        &[
            "pgflow.step_tasks.queued_at",
            "pgflow.step_tasks.last_requeued_at",
            "pgflow.step_tasks.permanently_stalled_at",
        ],
        &["past", "now"],
        "a moment that could have been",
    ),
    (&["pgflow.step_tasks.lease_until"], MOMENT, "as long as its worker asked for"),
    (
        &["pgflow.step_tasks.error_message"],
        &["other"],
        "the last failure of a task that did not end its step: the only copy",
    ),
    (&["pgflow.step_tasks.last_worker_id"], &["null"], "a worker may be forgotten"),
    (
        &["pgflow.step_tasks.output"],
        &["null", "other"],
        "of a map that still runs: the only copy until its step ends",
    ),
    (&["pgflow.event_log.at"], &["now"], "a moment that could have been, if no event follows"),
    (
        &["pgflow.event_log.details"],
        &["+1"],
        "an empty detail of a single event is as good as none",
    ),
    (
        &["pgflow.step_states.error_message"],
        &["null"],
        "of a step that was skipped in a run that records no events",
    ),
    (
        &["pgflow.step_states.started_at", "pgflow.step_states.skipped_at"],
        &["now"],
        "a moment that could have been, in a run that records no events",
    ),
    (
        &[
            "pgflow.workers.last_heartbeat_at",
            "pgflow.workers.started_at",
            "pgflow.workers.deprecated_at",
            "pgflow.workers.stopped_at",
            "pgflow.worker_functions.created_at",
            "pgflow.worker_functions.updated_at",
        ],
        MOMENT,
        "written by workers, as they please",
    ),
    (
        &["pgflow.worker_functions.last_invoked_at"],
        &["null", "past", "now", "future"],
        "written by workers, as they please",
    ),
    (
        &[
            "pgflow.workers.function_name",
            "pgflow.workers.queue_name",
            "pgflow.workers.worker_id",
            "pgflow.worker_functions.function_name",
            "pgflow.worker_functions.debounce",
            "pgflow.worker_functions.enabled",
        ],
        &["other"],
        "written by workers, as they please; an id that a task names is seen",
    ),
    (
        &["pgflow.workers.*", "pgflow.worker_functions.*"],
        &["deleted"],
        "workers may go; their tasks forget them",
    ),
    (
        &[
            "pgmq.q_f.vt",
            "pgmq.q_g.vt",
            "pgmq.a_f.vt",
            "pgmq.q_f.enqueued_at",
            "pgmq.q_g.enqueued_at",
            "pgmq.a_f.enqueued_at",
            "pgmq.q_f.last_read_at",
            "pgmq.q_g.last_read_at",
            "pgmq.a_f.last_read_at",
            "pgmq.a_f.archived_at",
        ],
        MOMENT,
        "pgmq's own; a delay may be of any length",
    ),
    (
        &["pgmq.q_f.read_ct", "pgmq.q_g.read_ct", "pgmq.a_f.read_ct"],
        NUMBER,
        "pgmq's own; what counts is whether it was read at all",
    ),
    (&["pgmq.q_f.headers", "pgmq.q_g.headers", "pgmq.a_f.headers"], &["other"], "pgmq's own"),
    (
        &["pgmq.a_f.message"],
        &["null", "other"],
        "an archived message may be anything, as long as it names no task of ours",
    ),
    (&["pgmq.a_f.*"], &["deleted"], "archives are pruned"),
];
