//! What the machine and the SQL of a database's own functions both go by. `cargo xtask constants` writes it down as
//! SQL.

use crate::event::EVENT_BYTES;
use crate::log::{CHUNKS_AT_ONCE, LASTS};
use crate::schedule::{LATE, QUEUED_AT_MOST};
use crate::wait::{CHILD_BYTES, CHILDREN_AT_MOST, KEPT_AT_MOST, MAX_COMPARISONS};
use crate::work::{
    BULK, BULK_END, BULK_FROM, CLAIM_BYTES, GRACE, INPUT_BYTES, MAX_DELAY, MAX_ERROR, MAX_REQUEUES,
};

/// A value that has to be the same on both sides.
///
/// ```
/// use pgflow_machine::{Constant, MAX_REQUEUES, SHARED};
///
/// let requeues = SHARED.iter().find(|(name, ..)| *name == "max_requeues");
/// assert_eq!(requeues.map(|(_, value, _)| *value), Some(Constant::Number(MAX_REQUEUES as u64)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constant {
    /// A count; it fits 32 bits.
    Number(u64),
    /// A time as a whole number of hours.
    Hours(u64),
}

/// All of them: what SQL calls it, what it is, and what it means.
pub const SHARED: &[(&str, Constant, &str)] = &[
    (
        "lease_grace",
        Constant::Number(GRACE.as_secs()),
        "Seconds that a lease lasts longer than the step's timeout.",
    ),
    (
        "max_requeues",
        Constant::Number(MAX_REQUEUES as u64),
        "How often a task may be lost and queued again; one more, and its step ends.",
    ),
    (
        "claim_bytes",
        Constant::Number(CLAIM_BYTES as u64),
        "What a claim hands out at once, unless it is one task.",
    ),
    (
        "input_limit",
        Constant::Number(INPUT_BYTES as u64),
        "What a task may be given; one that is given more ends its step.",
    ),
    (
        "event_bytes",
        Constant::Number(EVENT_BYTES as u64),
        "What the payloads of a page of events have together, unless it is one event.",
    ),
    (
        "bulk_from",
        Constant::Number(BULK_FROM as u64),
        "Tasks of a map from this index on are bulk.",
    ),
    (
        "bulk_lane",
        Constant::Hours(BULK.as_secs() / 3600),
        "How far back in time the lane of bulk begins.",
    ),
    (
        "bulk_edge",
        Constant::Hours(BULK_END.as_secs() / 3600),
        "How far back in time the lane of bulk ends.",
    ),
    (
        "max_retry_delay",
        Constant::Number(MAX_DELAY),
        "The longest back-off in seconds: past a day a retry is a surprise, not a help.",
    ),
    (
        "max_error_length",
        Constant::Number(MAX_ERROR as u64),
        "Characters that are kept of an error or reason: long enough for any stack trace.",
    ),
    (
        "chunks_at_once",
        Constant::Number(CHUNKS_AT_ONCE as u64),
        "Chunks that can be appended to a stream at once.",
    ),
    (
        "stream_lasts",
        Constant::Hours(LASTS.as_secs() / 3600),
        "How long a stream of its own is kept after it was last written, unless its writers say otherwise.",
    ),
    (
        "schedule_late",
        Constant::Number(LATE.as_secs()),
        "Seconds after which a moment of a schedule is missed.",
    ),
    (
        "schedule_queue",
        Constant::Number(QUEUED_AT_MOST as u64),
        "Moments of a schedule that wait for a run to end.",
    ),
    (
        "kept_at_most",
        Constant::Number(KEPT_AT_MOST as u64),
        "Signals that are kept for one token or task at a time.",
    ),
    (
        "children_at_most",
        Constant::Number(CHILDREN_AT_MOST as u64),
        "Runs or jobs that one attempt can wait for.",
    ),
    (
        "child_bytes",
        Constant::Number(CHILD_BYTES as u64),
        "What these may be given together, in bytes of JSON.",
    ),
    (
        "max_comparisons",
        Constant::Number(MAX_COMPARISONS as u64),
        "Parts of a payload that are compared with parts of a schema.",
    ),
];
