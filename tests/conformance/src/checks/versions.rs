//! Versions of flows.

use std::sync::Arc;

use futures_util::future::join_all;
use pgflow_machine::{CompiledFor, RunId, RunStatus, Source};
use pgflow_model::{FlowShape, OPTIONS, Operation, StepOptions, StepShape, version_slug};
use pgflow_runtime::backend::{
    BackendError, Ensured, FlowVersion, KnownVersion, NewRun, RunQuery, Started,
};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, StepExt, names, options, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("K33", "a flow is created once; options may differ, the graph may not", ensured),
    check!("K34", "new runs use the newest version, old ones stay with theirs", newest),
    check!("K35", "of two graphs under one name at one instant, one is kept", races),
    check!("K49", "a program starts the newest version that it fits, or nothing", fitting),
    check!("K36", "a second version leaves the first one's tasks to it, in whatever order", twice),
    check!("K68", "every option of a step is kept, and can be set anew", every_option),
];

fn version(flow: &str, number: u32, steps: Vec<StepShape>) -> FlowVersion {
    let slug = version_slug(flow, number).expect("a slug");
    let shape = FlowShape { steps, ..FlowShape::new(&slug) };
    FlowVersion { flow: flow.into(), version: number, slug, shape }
}

async fn ensure(cx: &Cx, version: &FlowVersion) -> Ensured {
    cx.backend().ensure_flow(version).await.expect("a flow can be compared")
}

async fn ensured(cx: Arc<Cx>) {
    let first = version(&cx.name(), 1, vec![single("a"), single("b").after("a")]);
    assert_eq!(ensure(&cx, &first).await, Ensured::Created);
    assert_eq!(ensure(&cx, &first).await, Ensured::Same);
    let mut reordered = first.clone();
    reordered.shape.steps.reverse();
    assert_eq!(
        ensure(&cx, &reordered).await,
        Ensured::Same,
        "the order in the source does not count"
    );
    let mut tuned = first.clone();
    tuned.shape.options = options(9, 9, 9);
    tuned.shape.steps[0].options.timeout = Some(7);
    assert_eq!(ensure(&cx, &tuned).await, Ensured::Same);
    let changes: [fn(&mut StepShape); 5] = [
        |b| b.depends_on.clear(),
        |b| b.kind = pgflow_model::StepKind::Map,
        |b| b.slug = "c".into(),
        |b| b.only_if = r#"{"a": 1}"#.parse().ok(),
        |b| b.when_exhausted = pgflow_model::OnSkip::Skip,
    ];
    for change in changes {
        let mut other = first.clone();
        change(&mut other.shape.steps[1]);
        let outcome = ensure(&cx, &other).await;
        let said = matches!(&outcome, Ensured::Conflict(why) if !why.is_empty());
        assert!(said, "{:?} got {outcome:?}", other.shape.steps[1]);
    }
    let mut longer = first.clone();
    longer.shape.steps.push(single("c"));
    assert!(matches!(ensure(&cx, &longer).await, Ensured::Conflict(_)));
    assert_eq!(ensure(&cx, &first).await, Ensured::Same, "nothing was changed");
    let run = cx.start(&first.flow, json!({})).await;
    run.expect_state(RunStatus::Started, &["a:started", "b:created"]).await;
    let [a] = run.take(["a#0"]).await;
    assert_eq!(a.timeout.as_secs(), 60, "the options in the database count");
}

async fn known(cx: &Cx, flow: &str) -> Vec<KnownVersion> {
    let mut known = cx.backend().versions(&[flow]).await.expect("versions can be read");
    known.sort_by_key(|version| version.version);
    known
}

async fn newest(cx: Arc<Cx>) {
    let flow = cx.name();
    assert_eq!(known(&cx, &flow).await, []);
    let first = version(&flow, 1, vec![single("old").map()]);
    assert_eq!(ensure(&cx, &first).await, Ensured::Created);
    let old = cx.start(&flow, json!([1, 2])).await;
    let second = version(&flow, 2, vec![single("new")]);
    assert_eq!(ensure(&cx, &second).await, Ensured::Created);
    let new = cx.start(&flow, json!([1, 2])).await;
    assert_eq!(
        (old.record().await.flow, new.record().await.flow),
        (first.slug.clone(), second.slug.clone())
    );
    let facts = |v: &KnownVersion| (v.slug.clone(), v.is_current, v.open_runs, v.open_tasks);
    let expected = [(first.slug.clone(), false, 1, 2), (second.slug.clone(), true, 1, 1)];
    assert_eq!(known(&cx, &flow).await.iter().map(facts).collect::<Vec<_>>(), expected);
    assert!(known(&cx, &flow).await.iter().all(|version| version.oldest.is_some()));
    let again = NewRun::new(flow.clone(), json!([]), old.id);
    assert_eq!(cx.backend().start(again).await.expect("fine"), Started::Existing, "of any version");
    assert_eq!(names(&cx.claim(&second.slug).await), ["new#0"]);
    let tasks = cx.claim(&first.slug).await;
    assert_eq!(names(&tasks), ["old#0", "old#1"], "each version has its queue");
    for task in &tasks {
        old.done(task, 1).await;
    }
    old.expect_state(RunStatus::Completed, &["old:completed"]).await;
    old.expect_log_end(&["step:completed old [1,1]", "run:completed {\"old\":[1,1]}"]).await;
    let expected = [(first.slug, false, 0, 0), (second.slug, true, 1, 1)];
    assert_eq!(known(&cx, &flow).await.iter().map(facts).collect::<Vec<_>>(), expected);
    let query = RunQuery { flows: vec![flow], ..RunQuery::default() };
    let listed = cx.backend().list(&query).await.expect("a list");
    assert_eq!(listed.len(), 2, "a flow's runs are those of all versions");
}

async fn races(cx: Arc<Cx>) {
    let handles = [cx.backend(), cx.another().await];
    for _ in 0..cx.rounds(3, 30) {
        let flow = cx.name();
        let shapes = [vec![single("a")], vec![single("a"), single("b")]];
        let calls = (0..20_usize).map(|n| {
            let (backend, version) =
                (Arc::clone(&handles[n % 2]), version(&flow, 1, shapes[n / 2 % 2].clone()));
            tokio::spawn(async move { backend.ensure_flow(&version).await })
        });
        let mut counts = [0; 3];
        for call in join_all(calls).await {
            counts[match call.expect("no panic").expect("a race has outcomes, not errors") {
                Ensured::Created => 0,
                Ensured::Same => 1,
                Ensured::Conflict(_) => 2,
            }] += 1;
        }
        assert_eq!(counts, [1, 9, 10], "created, same, conflict");
    }
}

async fn twice(cx: Arc<Cx>) {
    let flow = cx.name();
    let first = version(&flow, 1, vec![single("a").timeout(10), single("b").after("a")]);
    let second = version(&flow, 2, vec![single("a").timeout(20)]);
    assert_eq!(ensure(&cx, &first).await, Ensured::Created);
    let old = cx.start(&flow, json!({})).await;
    assert_eq!(ensure(&cx, &second).await, Ensured::Created);
    assert_eq!(ensure(&cx, &first).await, Ensured::Same);
    let new = cx.start(&flow, json!({})).await;
    let mut wish = cx.wish(&first.slug, 10);
    wish.wants.push(Source::queue(&second.slug).into());
    let tasks = cx.claim_as(&wish).await;
    let of = |run| tasks.iter().find(|task| task.lease.task.run == run).expect("claimed");
    assert_eq!((of(old.id).flow.as_str(), of(old.id).timeout.as_secs()), (first.slug.as_str(), 10));
    assert_eq!(
        (of(new.id).flow.as_str(), of(new.id).timeout.as_secs()),
        (second.slug.as_str(), 20)
    );
    old.done(of(old.id), 1).await;
    new.done(of(new.id), 1).await;
    old.expect_state(RunStatus::Started, &["a:completed", "b:started"]).await;
    new.expect_state(RunStatus::Completed, &["a:completed"]).await;
    old.expect_log_end(&["step:completed a 1", "step:started b 1"]).await;
}

async fn fitting(cx: Arc<Cx>) {
    let flow = cx.name();
    let versions: Vec<_> = (1..=3)
        .map(|number| version(&flow, number, vec![single(["a", "b", "c"][number as usize - 1])]))
        .collect();
    for version in &versions {
        assert_eq!(ensure(&cx, version).await, Ensured::Created);
    }
    let say = async |number: usize, interface: &str| {
        let slug = &versions[number - 1].slug;
        cx.backend().set_interface(slug, interface).await.expect("it can be said");
    };
    say(1, "old").await;
    say(2, "old").await;
    say(3, "new").await;
    let start = async |versions: &[u32], interface: Option<&str>| {
        let program =
            CompiledFor { versions: versions.into(), interface: interface.map(Into::into) };
        let new = NewRun::new(&*flow, json!({}), RunId::new());
        let run = NewRun { compiled_for: Some(Arc::new(program)), ..new };
        let id = run.id;
        cx.try_start(run).await?;
        let found = cx.backend().statuses(&[id]).await.expect("a look");
        Ok::<_, BackendError>(found[0].flow.clone())
    };
    for (program, interface, expected) in [
        (&[1][..], None, 1),
        (&[1], Some("other"), 1),
        (&[1], Some("old"), 2),
        (&[1], Some("new"), 3),
        (&[2, 1], None, 2),
        (&[3], Some("old"), 3),
        (&[4, 2], Some("old"), 2),
    ] {
        let started = start(program, interface).await.expect("it fits");
        assert_eq!(started, versions[expected - 1].slug, "{program:?} {interface:?}");
    }
    let refused = start(&[4], Some("old")).await;
    assert!(
        matches!(&refused, Err(BackendError::UnknownVersion { flow: name, version: 4 }) if *name == flow),
        "{refused:?}"
    );
    let unsaid = NewRun::new(&*flow, json!({}), RunId::new());
    let id = unsaid.id;
    cx.try_start(unsaid).await.expect("the newest");
    assert_eq!(cx.backend().statuses(&[id]).await.expect("a look")[0].flow, versions[2].slug);
}

async fn every_option(cx: Arc<Cx>) {
    let all = |more: u32| {
        let mut options = StepOptions::INHERIT;
        for rule in OPTIONS {
            *options.get_mut(rule.name).expect("its place") = Some(rule.min + more);
        }
        options
    };
    let flow = cx.flow([StepShape { options: all(1), ..single("a") }]).await;
    let kept = async || {
        let found = cx.backend().definition(&flow).await.expect("a definition can be read");
        found.expect("the flow is there").shape.steps[0].options
    };
    assert_eq!(kept().await, all(1));
    for options in [all(2), StepOptions::INHERIT] {
        let step = "a".to_owned();
        cx.migrate(Operation::SetStepOptions { slug: flow.clone(), step, options }).await;
        assert_eq!(kept().await, options);
    }
}
