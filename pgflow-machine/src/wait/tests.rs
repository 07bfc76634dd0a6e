//! When waits are over, and what ends them.

use std::sync::Arc;
use std::time::Duration;

use pgflow_model::{FlowShape, StepShape};
use serde_json::{Value, json};

use super::*;
use crate::job::{Dependency, Moment};
use crate::{
    Command, Entry, FlowVersion, Limits, Plan, Rows, RunId, RunRow, RunState, RunStatus, Settle,
    SettleBatch, Settled, StepState, StepStatus, TaskKey, TaskLease, TaskRef, TaskRow, TaskStatus,
    Timestamp, Turn, Until, Verdict, Version,
};

const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

fn run_id() -> RunId {
    RunId::from_key("flow", "waits")
}

fn key() -> TaskKey {
    TaskKey { run: run_id(), step: "a".into(), index: 0 }
}

fn at() -> TaskRef {
    TaskRef { run: run_id(), step: 0, index: 0 }
}

/// A run of two steps, the first of which has one task of this status, tried once.
fn rows(status: TaskStatus) -> Rows {
    let mut shape = FlowShape::new("flow");
    shape.steps = vec![StepShape::new("a"), StepShape::new("b").after("a")];
    shape.options.max_attempts = Some(2);
    let plan = Plan::new(&shape).expect("a flow");
    let (state, _): (RunState, _) =
        Turn::start(&plan, Arc::new(json!({})), &Limits::default()).expect("a run");
    let version = FlowVersion { flow: "flow".into(), version: 1, slug: "flow".into(), shape };
    let version = Arc::new(Version::new(1, version, None).expect("a version"));
    let mut rows = Rows::default();
    rows.runs.insert(run_id(), RunRow { version, state });
    let row =
        TaskRow { status, attempts: 1, refunded: 0, losses: 0, ready_at: None, lost_after: None };
    rows.tasks.insert(at(), row);
    rows
}

fn step(rows: &mut Rows) -> &mut StepState {
    &mut rows.runs.get_mut(&run_id()).expect("the run").state.steps[0]
}

fn lease(attempt: u32) -> TaskLease {
    TaskLease { task: key(), attempt }
}

fn hook() -> NewWait {
    NewWait::on(Awaited::Hook(HookToken::from_stored("mail")))
}

fn row(wait: &NewWait) -> WaitRow {
    WaitRow::new(wait, 1, NOW)
}

fn decide<C: Command>(rows: &mut Rows, command: &C) -> (C::Answer, Vec<Entry>, Option<TaskRow>) {
    let (answer, writes) = command.decide(rows, NOW).expect("a decision");
    let log = writes.changes.values().flat_map(|change| change.log.clone()).collect();
    (answer, log, writes.tasks.first().map(|write| write.row))
}

#[test]
fn an_attempt_that_waits_has_no_lease_and_counts() {
    let mut rows = rows(TaskStatus::Started);
    let until =
        Until::Met(Box::new(NewWait { timeout: Some(Duration::from_millis(1500)), ..hook() }));
    let verdict = Verdict::Yielded { until, reason: String::new() };
    let settles = [Settle { lease: lease(1).into(), verdict }];
    let batch = SettleBatch { settles: &settles, limits: Limits::default() };
    let (settled, log, row) = decide(&mut rows, &batch);
    assert_eq!(settled, [Settled::Applied]);
    let row = row.expect("it is written");
    assert_eq!((row.status, row.counted(), row.ready_at), (TaskStatus::Waiting, 1, None));
    let until = Some(NOW + Duration::from_secs(2));
    assert_eq!(log, [Entry::StepWaiting { step: 0, index: 0, on: WaitKind::Hook, until }]);
    assert!(rows.ties[&run_id()].waits, "the store has to know");
    let (again, ..) = decide(&mut rows, &batch);
    assert_eq!(again, [Settled::AlreadySettled]);
}

#[test]
fn only_the_wait_of_the_current_attempt_can_be_ended() {
    for (status, attempt, is_live, ends) in [
        (TaskStatus::Waiting, 1, true, true),
        (TaskStatus::Waiting, 1, false, false),
        (TaskStatus::Waiting, 2, true, false),
        (TaskStatus::Started, 1, true, false),
        (TaskStatus::Queued, 1, true, false),
        (TaskStatus::Completed, 1, true, false),
    ] {
        let mut rows = rows(status);
        if !is_live {
            step(&mut rows).status = StepStatus::Skipped;
        }
        let over = Over::Woken(Ok(Value::Null));
        let end = EndWaits::new([(lease(attempt), over)], Limits::default());
        let (ended, log, _) = decide(&mut rows, &end);
        assert_eq!(ended, [ends], "{status} {attempt} {is_live}");
        assert_eq!(log.is_empty(), !ends);
    }
}

#[test]
fn a_timeout_fails_the_attempt_by_its_policy() {
    let mut rows = rows(TaskStatus::Waiting);
    let end = |attempt| {
        EndWaits::new([(lease(attempt), Over::TimedOut("late".into()))], Limits::default())
    };
    let (_, log, row) = decide(&mut rows, &end(1));
    assert_eq!(log, [Entry::StepWaitTimedOut { step: 0, index: 0 }]);
    assert_eq!(row.map(|row| row.status), Some(TaskStatus::Queued), "an attempt is left");
    let task = rows.tasks.get_mut(&at()).expect("the task");
    (task.status, task.attempts) = (TaskStatus::Waiting, 2);
    let (_, log, row) = decide(&mut rows, &end(2));
    assert_eq!(row.map(|row| row.status), Some(TaskStatus::Failed));
    assert_eq!(log.len(), 3, "{log:?}");
    assert_eq!(rows.runs[&run_id()].state.status, RunStatus::Failed);
}

#[test]
fn the_first_payload_that_fits_is_delivered() {
    let wait = row(&NewWait { schema: Some(json!({ "type": "integer" })), ..hook() });
    let deliver = |rows: &mut Rows, wait: Option<&WaitRow>, payloads: Vec<Value>| {
        let task = key();
        let command = Deliver::new(&task, wait, payloads, Limits::default());
        let (delivery, log, _) = decide(rows, &command);
        (delivery, log)
    };
    let mut waiting = rows(TaskStatus::Waiting);
    let (unfit, log) = deliver(&mut waiting, Some(&wait), vec![json!("x")]);
    assert!(matches!(unfit, Delivery::Unfit(Some(_))) && log.is_empty(), "{unfit:?}");
    let (task, early) = (key(), json!("too early to be told"));
    let kept = Deliver::new(&task, Some(&wait), [early], Limits::default()).kept();
    let (unfit, log, _) = decide(&mut waiting, &kept);
    assert!(matches!(unfit, Delivery::Unfit(Some(_))), "{unfit:?}");
    let (path, message) = (String::new(), "expected integer, found string".to_owned());
    assert_eq!(log, [Entry::StepSignalDropped { step: 0, index: 0, path, message }]);
    let (not_yet, _) = deliver(&mut waiting, None, vec![json!(1)]);
    assert_eq!(not_yet, Delivery::NotYet);
    let (delivered, log) = deliver(&mut waiting, Some(&wait), vec![json!("x"), json!(7), json!(8)]);
    assert_eq!(delivered, Delivery::Delivered(1));
    assert_eq!(
        log[..2],
        [Entry::StepSignalled { step: 0, index: 0 }, Entry::StepCompleted { step: 0 }]
    );
    let (over, _) = deliver(&mut waiting, Some(&wait), vec![json!(9)]);
    assert_eq!(over, Delivery::Over);
    for (status, delivery) in [
        (TaskStatus::Queued, Delivery::NotYet),
        (TaskStatus::Started, Delivery::NotYet),
        (TaskStatus::Completed, Delivery::Over),
        (TaskStatus::Failed, Delivery::Over),
    ] {
        assert_eq!(deliver(&mut rows(status), Some(&wait), vec![json!(1)]).0, delivery, "{status}");
    }
}

fn child(name: &str, end: Option<ChildStatus>) -> Child {
    let message = (end == Some(ChildStatus::Failed)).then(|| "boom".to_owned());
    let end = end.map(|status| ChildEnd { status, message });
    Child { on: Dependency::Job(name.parse().expect("a name")), end }
}

#[test]
fn children_are_over_when_all_are_or_one_is_not_well() {
    use ChildStatus::{Cancelled, Completed, Failed};
    let runs = |each| NewWait::on(Awaited::Jobs { jobs: Vec::new(), each });
    let output = |on: &Dependency| Value::from(on.name());
    let over = |wait: &NewWait, ends: &[Option<ChildStatus>]| {
        let names = ["one", "two", "three"];
        let children: Vec<_> =
            names.iter().zip(ends).map(|(name, end)| child(name, *end)).collect();
        row(wait).over(&children, NOW, output)
    };
    let woken = |value: Value| Some(Over::Woken(Ok(value)));
    let failed = |error: &str| Some(Over::Woken(Err(error.to_owned())));
    let (one, each) = (runs(false), runs(true));
    let outcomes = NewWait { outcomes: true, ..runs(true) };
    assert_eq!(over(&one, &[Some(Completed)]), woken(json!("one")));
    assert_eq!(over(&each, &[]), woken(json!([])));
    assert_eq!(over(&each, &[Some(Completed), None]), None);
    assert_eq!(over(&each, &[Some(Completed); 2]), woken(json!(["one", "two"])));
    assert_eq!(over(&each, &[None, Some(Failed)]), failed("child job two failed: boom"));
    assert_eq!(
        over(&each, &[None, Some(Cancelled), Some(Failed)]),
        failed("child job two was cancelled")
    );
    assert_eq!(over(&outcomes, &[None, Some(Failed)]), None);
    let both = json!([{ "error": { "status": "failed", "message": "boom" } }, { "ok": "two" }]);
    assert_eq!(over(&outcomes, &[Some(Failed), Some(Completed)]), woken(both));
    let numbers = json!({ "items": { "type": "integer" } });
    let unread = NewWait { schema: Some(numbers), ..runs(true) };
    let error = "cannot read what it waited for at /0: expected integer, found string";
    assert_eq!(over(&unread, &[Some(Completed)]), failed(error));
}

#[test]
fn time_ends_sleeps_and_lets_others_time_out() {
    let none = |_: &Dependency| Value::Null;
    let later = NOW + Duration::from_mins(1);
    let sleep = NewWait::on(Awaited::Sleep(Moment::In(Duration::from_mins(1))));
    assert_eq!(row(&sleep).over(&[], NOW, none), None);
    assert_eq!(row(&sleep).over(&[], later, none), Some(Over::Woken(Ok(Value::Null))));
    let timed = NewWait { timeout: Some(Duration::from_mins(1)), ..hook() };
    assert_eq!(row(&timed).over(&[], NOW, none), None);
    let error = "nobody answered within 60 s".to_owned();
    assert_eq!(row(&timed).over(&[], later, none), Some(Over::TimedOut(error)));
    assert_eq!(row(&hook()).over(&[], later, none), None, "for ever");
}

#[test]
fn a_mismatch_is_found_where_it_is() {
    let schema = json!({
        "type": "object",
        "required": ["kind"],
        "properties": {
            "kind": { "enum": ["a", "b"] },
            "n": { "type": "integer", "minimum": 0, "maximum": 9 },
            "pair": { "type": "array", "prefixItems": [{ "type": "string" }, { "type": "boolean" }], "minItems": 2, "maxItems": 2 },
            "next": { "anyOf": [{ "$ref": "#" }, { "type": "null" }] },
            "either": { "oneOf": [{ "const": 1 }, { "type": "object", "required": ["x"] }] },
            "a/b": { "type": "string", "format": "date" },
            "letter": { "type": "string", "minLength": 1, "maxLength": 1 },
            "other": { "not": { "const": 0 } },
            "by_number": {
                "patternProperties": { "^\\d+$": { "type": "string" } },
                "additionalProperties": false,
            },
            "by_version": { "patternProperties": { "^v": { "type": "string" } }, "additionalProperties": false },
        },
        "additionalProperties": false,
    });
    for (value, path) in [
        (json!({ "kind": "a" }), None),
        (json!({ "kind": "c" }), Some("/kind")),
        (json!({}), Some("/kind")),
        (json!([]), Some("")),
        (json!({ "kind": "a", "unknown": 1 }), Some("/unknown")),
        (json!({ "kind": "a", "letter": "ä", "other": 1 }), None),
        (json!({ "kind": "a", "letter": "" }), Some("/letter")),
        (json!({ "kind": "a", "letter": "ab" }), Some("/letter")),
        (json!({ "kind": "a", "other": 0 }), Some("/other")),
        (json!({ "kind": "a", "by_number": { "7": "x" } }), None),
        (json!({ "kind": "a", "by_number": { "7": 1 } }), Some("/by_number/7")),
        (json!({ "kind": "a", "by_number": { "-7": "x" } }), Some("/by_number/-7")),
        (json!({ "kind": "a", "by_version": { "v7": "x" } }), None),
        (json!({ "kind": "a", "a/b": "2026-11-17" }), None),
        (json!({ "kind": "a", "a/b": "2026-11-31" }), Some("/a~1b")),
        (json!({ "kind": "a", "n": 9 }), None),
        (json!({ "kind": "a", "n": 9.0 }), Some("/n")),
        (json!({ "kind": "a", "n": -1 }), Some("/n")),
        (json!({ "kind": "a", "n": 10 }), Some("/n")),
        (json!({ "kind": "a", "pair": ["x", true] }), None),
        (json!({ "kind": "a", "pair": ["x"] }), Some("/pair")),
        (json!({ "kind": "a", "pair": ["x", 1] }), Some("/pair/1")),
        (json!({ "kind": "a", "next": null }), None),
        (json!({ "kind": "a", "next": { "kind": "b", "n": "x" } }), Some("/next/n")),
        (json!({ "kind": "a", "next": 7 }), Some("/next")),
        (json!({ "kind": "a", "either": 1 }), None),
        (json!({ "kind": "a", "either": {} }), Some("/either/x")),
        (json!({ "kind": "a", "a/b": 1 }), Some("/a~1b")),
    ] {
        let found = mismatch(&schema, &value).map(|found| found.path);
        assert_eq!(found.as_deref(), path, "{value}");
    }
    assert_eq!(mismatch(&json!({ "$ref": "#" }), &json!(1)), None, "it ends");
}

/// What a variant lacks or has too much of does not say that it is meant: its tag does, or that it is there.
#[test]
fn of_alternatives_the_one_that_is_meant_is_said() {
    let kind = |name: &str| json!({ "const": name });
    let tagged = json!({ "oneOf": [
        { "properties": { "t": kind("A"), "long": { "type": "integer" } }, "required": ["long", "t"] },
        { "properties": { "t": kind("B"), "y": { "type": ["string", "null"] } }, "required": ["t"] },
    ] });
    let outcome = json!({ "oneOf": [
        { "properties": { "ok": { "type": "integer" } }, "required": ["ok"] },
        { "properties": { "error": { "type": "object" } }, "required": ["error"] },
    ] });
    let optional = json!({ "anyOf": [outcome["oneOf"][0], { "type": "null" }] });
    for (schema, value, path) in [
        (&tagged, json!({ "t": "B", "y": 1 }), "/y"),
        (&tagged, json!({ "t": "A" }), "/long"),
        (&tagged, json!({ "t": "C" }), "/t"),
        (&tagged, json!({ "long": 1 }), "/t"),
        (&outcome, json!({ "ok": "x" }), "/ok"),
        (&outcome, json!({ "error": "x" }), "/error"),
        (&optional, json!({}), "/ok"),
    ] {
        let found = mismatch(schema, &value).map(|found| found.path);
        assert_eq!(found.as_deref(), Some(path), "{value}");
    }
}

/// As serde writes and reads them.
#[test]
fn keys_that_are_numbers_have_one_spelling() {
    let by = |pattern: &str| json!({ "patternProperties": { pattern: true }, "additionalProperties": false });
    let (natural, integer) = (by(r"^\d+$"), by(r"^-?\d+$"));
    let (most, least) = (u128::MAX.to_string(), i128::MIN.to_string());
    let (more, less) = (most.replace("55", "56"), least.replace("28", "29"));
    for (name, is_natural, is_integer) in [
        ("0", true, true),
        ("7", true, true),
        ("-7", false, true),
        (most.as_str(), true, false),
        (more.as_str(), false, false),
        (least.as_str(), false, true),
        (less.as_str(), false, false),
        ("007", false, false),
        ("-0", false, false),
        ("+7", false, false),
        ("", false, false),
        ("-", false, false),
        ("7\n", false, false),
    ] {
        let fits = |schema| mismatch(schema, &json!({ name: 1 })).is_none();
        assert_eq!((fits(&natural), fits(&integer)), (is_natural, is_integer), "{name}");
    }
}

#[test]
fn integers_are_as_long_as_their_format() {
    for (format, most) in
        [("int8", 127_u64), ("uint32", u64::from(u32::MAX)), ("int64", i64::MAX as u64)]
    {
        let schema = json!({ "type": "integer", "format": format });
        assert_eq!(mismatch(&schema, &json!(most)), None, "{format}");
        let found = mismatch(&schema, &json!(most + 1)).expect("too much");
        assert_eq!(found.expected, format!("at most {most}"));
    }
    let found = mismatch(&json!({ "format": "uint" }), &json!(-1)).expect("too little");
    assert_eq!(found.expected, "at least 0");
}

/// Alternatives in alternatives: each level doubles what there is to look at, unless a tag says at once which one is meant.
#[test]
fn no_payload_takes_for_ever_to_check() {
    let alternative = |tag: &str| {
        json!({
            "type": "object",
            "properties": { "op": { "const": tag }, "l": { "$ref": "#" } },
            "required": ["op", "l"],
        })
    };
    let tagged =
        json!({ "oneOf": [alternative("add"), alternative("mul"), { "type": "integer" }] });
    let nested = |depth: u32, leaf: Value| {
        (0..depth).fold(leaf, |inner, _| json!({ "op": "mul", "l": inner }))
    };
    assert_eq!(mismatch(&tagged, &nested(60, json!(1))), None);
    let found = mismatch(&tagged, &nested(90, json!("x"))).expect("the leaf is wrong");
    assert_eq!((found.path.len(), found.expected.as_str()), (180, "one of the alternatives"));
    let any = json!({ "properties": { "l": { "$ref": "#" } } });
    let untagged = json!({ "anyOf": [any, any, { "type": "null" }] });
    let wrong = (0..60).fold(json!({ "l": 1 }), |inner, _| json!({ "l": inner }));
    let untyped =
        json!({ "oneOf": [untagged["anyOf"][0].clone(), { "const": 0 }], "allOf": [untagged] });
    let found = mismatch(&untyped, &wrong).expect("it takes too long to know that it fits");
    assert_eq!((found.path.as_str(), found.message().as_str()), ("", TOO_MUCH));
    let strict = json!({ "properties": { "l": { "$ref": "#" } }, "required": ["l"] });
    let never = json!({ "anyOf": [strict, strict] });
    let endless = (0..60).fold(json!({}), |inner, _| json!({ "l": inner }));
    let found = mismatch(&never, &endless).expect("it ends without an `l`");
    assert_eq!((found.path.as_str(), found.message().as_str()), ("", TOO_MUCH));
}

const TOO_MUCH: &str = "expected what takes less than 20000 comparisons, found object";

/// Only what the schema speaks of is looked at, so that what nobody asked for costs nothing.
#[test]
fn what_the_schema_does_not_speak_of_is_not_compared() {
    let many: Value =
        (0..200_000).map(|n| (format!("f{n}"), json!(n))).collect::<serde_json::Map<_, _>>().into();
    let schema = json!({ "properties": { "f1": { "type": "integer" } } });
    assert_eq!(mismatch(&schema, &many), None);
    assert_eq!(mismatch(&json!({ "prefixItems": [true] }), &json!(vec![0; 200_000])), None);
    let found = mismatch(&json!({ "items": { "type": "integer" } }), &json!(vec![0; 200_000]));
    assert_eq!(found.map(|found| found.path), Some(String::new()), "that is too much");
}

/// A list as long as payloads may be deep: each element is one reference further, and the last one is looked at, too.
#[test]
fn references_are_followed_as_deep_as_a_payload_is() {
    let list = json!({ "properties": { "next": { "anyOf": [{ "$ref": "#" }, { "type": "null" }] }, "n": { "type": "integer" } } });
    let chain = |leaf: Value| (0..90).fold(leaf, |next, n| json!({ "n": n, "next": next }));
    assert_eq!(mismatch(&list, &chain(json!({ "n": 1 }))), None);
    let found = mismatch(&list, &chain(json!({ "n": "x" }))).expect("the last one is wrong");
    assert!(found.path.ends_with("/next/n"), "{found:?}");
}
