//! What people who look after a database are told.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::{RunId, TaskStatus, Timestamp, WorkerId};
use pgflow_runtime::backend::{
    Claim, FlowRecord, QueueDepth, RunQuery, StepTimes, TaskQuery, TaskRecord, WorkerCard,
    WorkerQuery, WorkerRecord,
};
use serde_json::json;
use uuid::Uuid;

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, StepExt, completed, failed, options, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("U01", "every version of every flow is listed, with its graph and options", flows),
    check!("U02", "what a version's runs are given is noted, and the last word counts", schema),
    check!("U03", "queues say what is ready, delayed and running, and since when", queues),
    check!("U04", "runs are found by a range of ids, in order", between),
    check!("U05", "runs are listed from a moment on", since),
    check!("U06", "steps say when they began and ended", step_times),
    check!("U07", "tasks are listed page by page, with what each waits for", tasks),
    check!("U08", "workers sign on, have tasks and sign off", workers),
    check!("U09", "a worker that sweeps is alive", beats),
    check!("U10", "steps say how often they ended how, and how long they took", statistics),
    check!("U11", "runs are counted by the minute of their start", activity),
    check!("U12", "what could be deleted is counted, up to a limit", prunable),
    check!("U13", "a healthy database has no findings and no violations", healthy),
];

const HOUR: Duration = Duration::from_hours(1);

async fn now(cx: &Cx) -> Timestamp {
    cx.backend().now().await.expect("the database has a clock")
}

async fn record(cx: &Cx, slug: &str) -> FlowRecord {
    let flows = cx.backend().flows().await.expect("flows can be listed");
    assert!(flows.is_sorted_by_key(|flow| (flow.flow.clone(), flow.version)), "{flows:?}");
    flows.into_iter().find(|flow| flow.slug == slug).expect("it is listed")
}

async fn flows(cx: Arc<Cx>) {
    let steps = [single("a"), single("b").map().after("a").timeout(7)];
    let flow = cx.flow_with(options(4, 5, 6), steps.clone()).await;
    let listed = record(&cx, &flow).await;
    assert_eq!((listed.flow.as_str(), listed.version, listed.steps), (flow.as_str(), 1, 2));
    assert!(listed.is_current);
    let (created, at) = (listed.created_at, now(&cx).await);
    assert!(created.is_none_or(|created| created <= at), "{created:?}");
    let definition = cx.backend().definition(&flow).await.expect("read").expect("it is there");
    assert_eq!(definition.record, listed);
    assert_eq!(definition.input_schema, None);
    assert_eq!(definition.shape.slug, flow);
    let set = |number: usize| definition.shape.steps[number].options.timeout;
    assert_eq!((set(0), set(1)), (None, Some(7)));
    let plain = |steps: &[pgflow_model::StepShape]| {
        let name = |step: &pgflow_model::StepShape| {
            (step.slug.clone(), step.kind, step.depends_on.clone())
        };
        steps.iter().map(name).collect::<Vec<_>>()
    };
    assert_eq!(plain(&definition.shape.steps), plain(&steps));
    let of_flow = definition.shape.options;
    assert_eq!(
        (of_flow.max_attempts, of_flow.base_delay, of_flow.timeout),
        (Some(4), Some(5), Some(6))
    );
    assert_eq!(cx.backend().definition(&cx.name()).await.expect("read"), None);
}

async fn schema(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    for schema in [json!({ "type": "object" }), json!({ "type": "array", "maxItems": 3 })] {
        for _ in 0..2 {
            cx.backend().set_input_schema(&flow, &schema).await.expect("noted");
        }
        let definition = cx.backend().definition(&flow).await.expect("read").expect("there");
        assert_eq!(definition.input_schema, Some(schema));
    }
    let missing = cx.name();
    cx.backend().set_input_schema(&missing, &json!(true)).await.expect("nothing to note");
    assert_eq!(cx.backend().definition(&missing).await.expect("read"), None);
}

async fn depth(cx: &Cx, flow: &str) -> QueueDepth {
    let queues = cx.backend().queues().await.expect("queues can be read");
    assert!(queues.is_sorted_by_key(|queue| queue.slug.clone()), "{queues:?}");
    queues.into_iter().find(|queue| queue.slug == flow).expect("every version has one")
}

async fn queues(cx: Arc<Cx>) {
    let flow = cx
        .flow_with(options(3, 60, 100), [single("m").map(), single("later").start_delay(500)])
        .await;
    let empty = QueueDepth { slug: flow.clone(), ..QueueDepth::default() };
    assert_eq!(depth(&cx, &flow).await, empty);
    // Wide, so that its last tasks stand behind others.
    let elements: Vec<_> = (0..200).collect();
    let run = cx.start(&flow, json!(elements)).await;
    let full = depth(&cx, &flow).await;
    assert_eq!((full.ready, full.delayed, full.running), (200, 1, 0));
    assert!(full.oldest_ready.is_some_and(|age| age < HOUR), "{full:?}");
    cx.age(&flow, 90).await;
    let aged = depth(&cx, &flow).await.oldest_ready.expect("something is ready");
    assert!((Duration::from_secs(89)..HOUR).contains(&aged), "{aged:?}");
    let taken = cx.claim_as(&cx.wish(&flow, 3)).await;
    let busy = depth(&cx, &flow).await;
    assert_eq!((busy.ready, busy.delayed, busy.running), (197, 1, 3));
    cx.settle(&taken[0].lease, completed(1)).await;
    cx.settle(&taken[1].lease, failed("not yet")).await;
    let settled = depth(&cx, &flow).await;
    assert_eq!((settled.ready, settled.delayed, settled.running), (197, 2, 1), "a retry waits");
    run.cancel(None).await;
    assert_eq!(depth(&cx, &flow).await, empty);
}

async fn between(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let mut runs = Vec::new();
    for n in 0..4 {
        runs.push(cx.start(&flow, json!(n)).await.id);
    }
    runs.sort();
    let find = async |first: RunId, last: RunId, max| {
        let found = cx.backend().between(first, last, max).await.expect("runs can be found");
        found.into_iter().map(|run| run.id).collect::<Vec<_>>()
    };
    assert_eq!(find(runs[1], runs[2], 10).await, runs[1..=2]);
    assert_eq!(find(runs[0], runs[3], 3).await, runs[..3]);
    assert_eq!(find(runs[3], runs[0], 3).await, []);
    let [first, last] =
        [runs[0].0, RunId::new().0].map(|id| RunId(Uuid::from_u128(id.as_u128() + 1)));
    assert_eq!(find(first, last, 10).await, runs[1..]);
    let found = cx.backend().between(runs[0], runs[0], 1).await.expect("found");
    let listed = cx.backend().statuses(&[runs[0]]).await.expect("a look");
    assert_eq!(found, listed, "the same as in a list");
}

async fn since(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let old = cx.start(&flow, json!(1)).await;
    cx.age(&flow, 60).await;
    let new = cx.start(&flow, json!(2)).await;
    let query = RunQuery { flows: vec![flow], ..RunQuery::default() };
    let all = cx.backend().list(&query).await.expect("a list");
    assert_eq!([all[0].id, all[1].id], [new.id, old.id]);
    let from = async |since: Timestamp| {
        let query = RunQuery { since: Some(since), ..query.clone() };
        let runs = cx.backend().list(&query).await.expect("a list");
        runs.into_iter().map(|run| run.id).collect::<Vec<_>>()
    };
    assert_eq!(from(all[1].started_at).await, [new.id, old.id], "that moment included");
    let later = all[1].started_at + Duration::from_micros(1);
    assert_eq!(from(later).await, [new.id]);
    assert_eq!(from(all[0].started_at + HOUR).await, []);
}

async fn step_times(cx: Arc<Cx>) {
    let flow = cx.flow([single("a"), single("b").after("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    let read = async || cx.backend().step_times(run.id).await.expect("times can be read");
    let [a, b]: [StepTimes; 2] = read().await.try_into().expect("two steps");
    assert_eq!((a.slug.as_str(), b.slug.as_str()), ("a", "b"));
    assert!(a.started_at.is_some() && a.ended_at.is_none(), "{a:?}");
    assert_eq!((b.started_at, b.ended_at), (None, None));
    cx.age(&flow, 2).await;
    let [task] = run.take(["a#0"]).await;
    run.done(&task, 1).await;
    let [a, b]: [StepTimes; 2] = read().await.try_into().expect("two steps");
    let took = a.started_at.expect("it began").saturating_until(a.ended_at.expect("it ended"));
    assert!((Duration::from_secs(2)..HOUR).contains(&took), "{took:?}");
    assert!(b.started_at >= a.ended_at && b.ended_at.is_none(), "{b:?}");
    assert_eq!(cx.backend().step_times(RunId::new()).await.expect("read"), []);
}

async fn page(cx: &Cx, run: RunId, step: &str, query: &TaskQuery) -> Vec<TaskRecord> {
    cx.backend().tasks(run, step, query).await.expect("tasks can be listed")
}

async fn tasks(cx: Arc<Cx>) {
    let flow = cx.flow_with(options(3, 60, 100), [single("m").map(), single("z").after("m")]).await;
    let elements: Vec<_> = (0..120).collect();
    let run = cx.start(&flow, json!(elements)).await;
    let all = TaskQuery { max: TaskQuery::MOST, ..TaskQuery::default() };
    let waiting = page(&cx, run.id, "m", &all).await;
    assert_eq!(waiting.iter().map(|task| task.index).collect::<Vec<_>>(), elements);
    let (at, hour_ago) = (now(&cx).await, HOUR);
    for task in &waiting {
        assert_eq!((task.status, task.attempts, task.worker), (TaskStatus::Queued, 0, None));
        let ready_at = task.ready_at.expect("it waits for a worker");
        assert!(ready_at <= at && ready_at + hour_ago > at, "{ready_at:?} at {at:?}");
        assert_eq!((task.started_at, task.lost_at, &task.error), (None, None, &None));
    }
    let wish = cx.wish(&flow, 3);
    let taken = cx.claim_as(&wish).await;
    cx.settle(&taken[0].lease, completed(1)).await;
    cx.settle(&taken[1].lease, failed("not yet")).await;
    let listed = page(&cx, run.id, "m", &all).await;
    let of = |number: usize| &listed[taken[number].lease.task.index as usize];
    assert_eq!((of(0).status, of(0).attempts, of(0).worker), (TaskStatus::Completed, 1, None));
    let again = of(1);
    assert_eq!((again.status, again.attempts), (TaskStatus::Queued, 1));
    assert_eq!(again.error.as_deref(), Some("not yet"));
    assert!(
        again.ready_at.is_some_and(|ready| ready > at),
        "it waits for its next attempt: {again:?}"
    );
    let held = of(2);
    assert_eq!(
        (held.status, held.attempts, held.worker),
        (TaskStatus::Started, 1, Some(wish.worker))
    );
    assert_eq!(held.ready_at, None);
    let (began, lost) = (held.started_at.expect("it began"), held.lost_at.expect("it has a lease"));
    assert!(began.saturating_until(lost) >= Duration::from_secs(100), "{held:?}");
    let mut query = TaskQuery { statuses: vec![TaskStatus::Queued], max: 50, after: None };
    let mut found = Vec::new();
    for size in [50, 50, 18, 0] {
        let next = page(&cx, run.id, "m", &query).await;
        assert_eq!(next.len(), size);
        query.after = next.last().map(|task| task.index).or(query.after);
        found.extend(next.into_iter().map(|task| task.index));
    }
    assert!(found.is_sorted() && found.len() == 118, "{found:?}");
    assert_eq!(page(&cx, run.id, "z", &all).await, []);
    assert_eq!(page(&cx, run.id, "none", &all).await, []);
    assert_eq!(page(&cx, RunId::new(), "m", &all).await, []);
    run.cancel(None).await;
    let left = page(&cx, run.id, "m", &all).await;
    assert!(
        left.iter().all(|task| task.ready_at.is_none() && task.lost_at.is_none()),
        "nobody waits"
    );
}

fn card(queues: &[&String]) -> WorkerCard {
    WorkerCard {
        id: WorkerId::new(),
        host: Some("here".to_owned()),
        pid: 4711,
        queues: queues.iter().map(|queue| (*queue).clone()).collect(),
        slots: 8,
    }
}

async fn find(cx: &Cx, worker: WorkerId, with_gone: bool) -> Option<WorkerRecord> {
    let query = WorkerQuery { with_gone, max: 1000, ..WorkerQuery::default() };
    let workers = cx.backend().workers(&query).await.expect("workers can be listed");
    assert!(workers.is_sorted_by(|one, other| one.id.0 > other.id.0), "{workers:?}");
    workers.into_iter().find(|known| known.id == worker)
}

async fn workers(cx: Arc<Cx>) {
    let flow = cx.flow([single("m").map()]).await;
    let run = cx.start(&flow, json!([1, 2, 3])).await;
    let (one, other) = (card(&[&flow]), card(&[&flow]));
    for card in [&one, &other] {
        cx.backend().sign_on(card).await.expect("signed on");
    }
    let claim = Claim::of_queues([flow.as_str()], 2, one.id);
    let tasks = cx.claim_as(&claim).await;
    let found = find(&cx, one.id, false).await.expect("it is there");
    assert_eq!(
        (found.host.as_deref(), found.pid, found.slots),
        (Some("here"), Some(4711), Some(8))
    );
    assert_eq!((found.queues.as_slice(), found.running), ([flow.clone()].as_slice(), 2));
    let at = now(&cx).await;
    assert!(found.is_alive(at) && !found.is_lost(at), "{found:?} at {at:?}");
    assert!(found.started_at <= found.seen_at && found.seen_at <= at);
    assert_eq!(find(&cx, other.id, false).await.expect("it is there").running, 0);
    for task in &tasks {
        run.done(task, 1).await;
    }
    cx.backend().sign_off(one.id).await.expect("signed off");
    assert_eq!(find(&cx, one.id, false).await, None);
    let gone = find(&cx, one.id, true).await.expect("people can look");
    assert!(gone.stopped_at.is_some() && gone.running == 0 && !gone.is_alive(at), "{gone:?}");
    let mut query = WorkerQuery { with_gone: true, after: None, max: 1 };
    let first = cx.backend().workers(&query).await.expect("a page");
    query.after = Some(first[0].id);
    let second = cx.backend().workers(&query).await.expect("a page");
    assert!(first[0].id.0 > second[0].id.0, "pages are disjoint");
    cx.backend().sign_off(other.id).await.expect("signed off");
}

async fn beats(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let card = card(&[&flow]);
    cx.backend().sign_on(&card).await.expect("signed on");
    let before = find(&cx, card.id, false).await.expect("it is there");
    cx.sweep().await;
    let after = find(&cx, card.id, false).await.expect("it is there");
    assert!(after.seen_at >= before.seen_at && after.is_alive(now(&cx).await), "{after:?}");
    cx.backend().sign_off(card.id).await.expect("signed off");
    let ended = find(&cx, card.id, true).await.expect("it was there");
    cx.sweep().await;
    assert_eq!(find(&cx, card.id, true).await, Some(ended), "a sweep does not bring it back");
}

async fn statistics(cx: Arc<Cx>) {
    let steps = [single("a"), single("b").after("a"), single("c").after("b")];
    let flow = cx.flow_with(options(1, 0, 100), steps).await;
    let begin = async || {
        let run = cx.start(&flow, json!(1)).await;
        cx.age(&flow, 1).await;
        let [a] = run.take(["a#0"]).await;
        run.done(&a, 1).await;
        let [b] = run.take(["b#0"]).await;
        (run, b)
    };
    for _ in 0..3 {
        let (run, b) = begin().await;
        run.done(&b, 1).await;
        let [c] = run.take(["c#0"]).await;
        run.done(&c, 1).await;
    }
    let ask = async |window| {
        cx.backend().step_statistics(&flow, window).await.expect("statistics can be made")
    };
    cx.age(&flow, 60).await;
    for step in ask(Duration::from_secs(30)).await {
        assert_eq!((step.completed, step.p50, step.p95), (0, None, None), "they began before");
    }
    let (_, b) = begin().await;
    cx.settle(&b.lease, failed("no")).await;
    let found = ask(HOUR).await;
    let counts: Vec<_> = found
        .iter()
        .map(|step| (step.slug.as_str(), step.completed, step.failed, step.skipped))
        .collect();
    assert_eq!(counts, [("a", 4, 0, 0), ("b", 3, 1, 0), ("c", 3, 0, 0)]);
    let [p50, p95] = [found[0].p50, found[0].p95].map(|value| value.expect("four ended"));
    assert!((Duration::from_secs(1)..HOUR).contains(&p50) && p95 >= p50, "{found:?}");
    assert!((found[1].fail_rate() - 0.25).abs() < 1e-9);
    assert_eq!(cx.backend().step_statistics(&cx.name(), HOUR).await.expect("none"), []);
}

async fn activity(cx: Arc<Cx>) {
    let flow = cx.flow_with(options(1, 0, 100), [single("a")]).await;
    let start = async |n: i32| {
        let run = cx.start(&flow, json!(n)).await;
        let [task] = run.take(["a#0"]).await;
        (run, task)
    };
    for n in 0..3 {
        let (run, task) = start(n).await;
        run.done(&task, 1).await;
    }
    cx.age(&flow, 120).await;
    let (_, task) = start(3).await;
    cx.settle(&task.lease, failed("no")).await;
    let (run, _) = start(4).await;
    run.cancel(None).await;
    start(5).await;
    let flows = [flow.clone()];
    let ask = async |window| cx.backend().activity(&flows, window).await.expect("activity");
    let found = ask(HOUR).await;
    assert!(found.minutes.is_sorted_by_key(|minute| minute.at), "{found:?}");
    assert!(found.since.saturating_until(found.until) == HOUR, "{found:?}");
    let sum = |part: fn(&pgflow_runtime::backend::Minute) -> u64| -> u64 {
        found.minutes.iter().map(part).sum()
    };
    let counts =
        [sum(|m| m.started), sum(|m| m.completed), sum(|m| m.failed), sum(|m| m.cancelled)];
    assert_eq!(counts, [6, 3, 1, 1]);
    assert!(found.minutes.len() >= 2, "two minutes lie between them: {found:?}");
    assert!(found.minutes.iter().all(|minute| minute.at.micros() % 60_000_000 == 0));
    assert!(found.p50.is_some() && found.p50 <= found.p95, "{found:?}");
    let lately: u64 = ask(Duration::from_mins(1)).await.minutes.iter().map(|m| m.started).sum();
    assert_eq!(lately, 3);
    let none = cx.backend().activity(&[cx.name()], HOUR).await.expect("activity");
    assert_eq!((none.minutes.len(), none.p50, none.p95), (0, None, None));
}

async fn prunable(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    for n in 0..3 {
        let run = cx.start(&flow, json!(n)).await;
        if n > 0 {
            run.cancel(None).await;
        }
    }
    let count = async |older_than, max| {
        cx.backend().prunable(older_than, max).await.expect("they can be counted")
    };
    let before = count(HOUR, 1_000_000).await;
    cx.age(&flow, 2 * 3600).await;
    assert_eq!(count(HOUR, 1_000_000).await, before + 2);
    assert_eq!(count(HOUR, 1).await, 1);
    assert_eq!(count(HOUR * 24 * 365, 1_000_000).await, 0);
}

async fn healthy(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let run = cx.start(&flow, json!(1)).await;
    let [task] = run.take(["a#0"]).await;
    run.done(&task, 1).await;
    let checkup = cx.backend().checkup().await.expect("a look at the database");
    let codes: Vec<_> = checkup.findings.iter().map(|finding| finding.code).collect();
    // Servers for tests are set up to be fast, and a conformance run may be on one of yours.
    let of_the_server = [
        "fsync-off",
        "full-page-writes-off",
        "synchronous-commit-off",
        "not-durable",
        "pooler",
        "old-snapshot",
        "dead-tuples",
    ];
    assert!(codes.iter().all(|code| of_the_server.contains(code)), "{:?}", checkup.findings);
    assert_eq!(cx.backend().check().await.expect("a check"), [] as [String; 0]);
}
