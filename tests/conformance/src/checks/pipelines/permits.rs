//! What claims have to get besides messages.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::job::{JobProblem, Moment, NewJob, Submitted};
use pgflow_machine::permit::{Columns, Message, PermitProblem, Rate, Stage, batches_of};
use pgflow_runtime::backend::{BackendError, StageClaim, Wake};

use super::{QueueKit, batches, done, held};
use crate::Check;
use crate::check::check;
use crate::kit::Cx;
use crate::kit::jobs::hinted;

pub(super) const CHECKS: &[Check] = &[
    check!("Q04", "no more of a resource is held than there is", capacity, Pipelines),
    check!("Q05", "claims at the same time share a resource", racing, Pipelines),
    check!("Q06", "a full resource keeps nobody else waiting", passed_over, Pipelines),
    check!("Q07", "a rate is kept, and can be changed", rates, Pipelines),
    check!("Q08", "a flood of one key does not starve another", fair, Pipelines),
    check!("Q09", "what makes no sense is refused, and nothing is lost", refused, Pipelines),
    check!("Q20", "what can be had is found behind what cannot", found_behind, Pipelines),
    check!("Q21", "more than there is cannot be asked for, and says so", too_many, Pipelines),
    check!("Q22", "keys of a fair queue are forgotten when it has caught up", forgotten, Pipelines),
    check!("Q39", "what a stage holds counts when messages name it, too", with_stage, Pipelines),
    check!("Q40", "what waits at a queue is counted, up to so many", counted, Pipelines),
    check!("Q23", "who waits for a resource is told, at whatever queue", told, Pipelines),
    check!("Q18", "permits are listed, and a paused queue hands out nothing", listed, Pipelines),
    check!("Q33", "no units are nothing to hold", no_units, Pipelines),
    check!("Q34", "a token is taken for what is had", for_what_is_had, Pipelines),
    check!("Q35", "no queue is called as what batches are formed of", of_batches, Pipelines),
    check!("Q30", "what claims of a queue take is noted, and replaced", noted, Pipelines),
];

async fn capacity(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let (other, gpu) = (kit.another().await, kit.jobs.name("gpu"));
    kit.queues().set_capacity(&gpu, 1).await.expect("a resource");
    kit.push_named(["a", "b", "c"].map(str::to_owned)).await;
    let stage = held(&gpu);
    let first = kit.claim(9, &stage).await;
    assert_eq!((first.len(), &first[0].fences[&gpu]), (1, &1));
    assert!(other.claim(9, &stage).await.is_empty());
    let (resource, units) =
        kit.queues().resource(&gpu).await.expect("a look").expect("it is there");
    assert_eq!((resource.capacity, units), (1, 1));
    kit.finish(&first[0]).await;
    let second = other.claim(9, &stage).await;
    assert_eq!((second.len(), &second[0].fences[&gpu]), (1, &2), "each grant has a number");
    kit.jobs.pass(61).await;
    let third = kit.claim(9, &stage).await;
    assert_eq!(third.len(), 1, "who is gone holds nothing");
    assert_eq!(third[0].fences[&gpu], 3);
    assert!(kit.claim(9, &stage).await.is_empty());
    kit.queues().set_capacity(&gpu, 2).await.expect("more of it");
    assert_eq!(kit.claim(9, &stage).await.len(), 1);
}

async fn racing(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let gpu = kit.jobs.name("gpu");
    kit.queues().set_capacity(&gpu, 1).await.expect("a resource");
    kit.push_named((0..20).map(|at| format!("{at:02}"))).await;
    for round in 0..cx.rounds(3, 20) {
        let mut claims = Vec::new();
        for _ in 0..4 {
            let (other, stage) = (kit.another().await, held(&gpu));
            claims.push(tokio::spawn(async move { other.claim(3, &stage).await }));
        }
        let mut got = Vec::new();
        for claim in claims {
            got.extend(claim.await.expect("a claim"));
        }
        assert_eq!(got.len(), 1, "round {round}: {got:?}");
        let _ = kit.settle(&got[0], &pgflow_machine::job::JobVerdict::Released.into()).await;
    }
}

async fn passed_over(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let (full, free) = (kit.jobs.name("full"), kit.jobs.name("free"));
    for slug in [&full, &free] {
        kit.queues().set_capacity(slug, 1).await.expect("a resource");
    }
    let holding = |name: &str, slug: &str| Message {
        columns: Columns { resources: [(slug.to_owned(), 1)].into(), ..Columns::default() },
        ..kit.message(name)
    };
    kit.push(&[holding("a", &full), holding("b", &full), holding("c", &free), kit.message("d")])
        .await;
    assert_eq!(kit.names(9, &Stage::default()).await, ["a", "c", "d"]);
    assert!(kit.names(9, &Stage::default()).await.is_empty());
}

async fn rates(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let slug = kit.jobs.name("openai");
    let rate = Rate::per_hour(1).burst(2);
    kit.queues().declare(&[(slug.clone(), rate)].into(), &[].into()).await.expect("a rate");
    kit.push_named((0..9).map(|at| at.to_string())).await;
    let stage = Stage { rates: vec![slug.clone()], ..Stage::default() };
    let burst = kit.claim(9, &stage).await;
    assert_eq!(burst.len(), 2);
    for batch in &burst {
        kit.finish(batch).await;
    }
    let later = kit.another().await.look(9, &stage).await;
    assert!(later.batches.is_empty());
    assert!(later.next_in.expect("the next token") > Duration::from_mins(50));
    kit.queues().set_rate(&slug, Rate::per_second(0)).await.expect("a pause");
    assert_eq!(kit.look(9, &stage).await.next_in, None);
    kit.queues().declare(&[(slug.clone(), rate)].into(), &[].into()).await.expect("the same rate");
    assert!(kit.names(9, &stage).await.is_empty(), "a program that starts does not end a pause");
    kit.queues().set_rate(&slug, Rate::per_second(100_000).burst(3)).await.expect("a rate");
    tokio::time::sleep(Duration::from_millis(5)).await;
    kit.jobs.pass(1).await;
    assert_eq!(kit.names(9, &stage).await.len(), 3, "at the next claim");
}

async fn fair(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let of = |name: String, key: &str| Message { fair: Some(key.into()), ..kit.message(&name) };
    let flood: Vec<_> = (0..50).map(|at| of(format!("flood{at:02}"), "a")).collect();
    kit.push(&flood).await;
    let few: Vec<_> = (0..3).map(|at| of(format!("few{at}"), "b")).collect();
    kit.push(&few).await;
    let first = kit.names(6, &Stage::default()).await;
    let expected = ["flood00", "few0", "flood01", "few1", "flood02", "few2"];
    assert_eq!(first, expected);
    kit.push(&[of("late".into(), "c")]).await;
    assert_eq!(kit.names(2, &Stage::default()).await, ["flood03", "late"], "it joins the round");
}

async fn refused(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let queues = kit.queues();
    let permit = |answer: Result<(), BackendError>| match answer {
        Err(BackendError::Permit(problem)) => problem,
        other => panic!("{other:?}"),
    };
    let gpu = kit.jobs.name("gpu");
    let none = permit(queues.set_capacity(&gpu, 0).await);
    assert_eq!(none, PermitProblem::NoCapacity(gpu.clone()));
    let one = [(gpu.clone(), 1)].into();
    let missing = permit(queues.declare(&[].into(), &one).await);
    assert_eq!(missing, JobProblem::UnknownResource(gpu.clone()).into());
    let never = permit(queues.set_rate("r", Rate::per_second(1).burst(0)).await);
    assert_eq!(never, PermitProblem::NoBurst);
    let mut holding = kit.message("a");
    holding.columns.resources.insert(gpu.clone(), 1);
    let mut odd = kit.message("b");
    odd.job.payload = "\0".into();
    let answers = queues.push(&[holding, odd, kit.message("c")], "me").await.expect("a push");
    assert_eq!(answers[0], Err(JobProblem::UnknownResource(gpu.clone())));
    assert!(matches!(answers[1], Err(JobProblem::Payload { .. })), "{answers:?}");
    let claim = |stage: Stage, max| StageClaim {
        stage,
        ..StageClaim::new("worker", &kit.jobs.name("q"), max)
    };
    let unknown = Stage { rates: vec![kit.jobs.name("nowhere")], ..Stage::default() };
    for bad in [claim(batches(0, 1), 1), claim(unknown, 1), claim(Stage::default(), 0)] {
        let answer = queues.claim_stage(&bad).await.map(drop);
        permit(answer);
    }
    assert!(kit.claim(1, &held(&gpu)).await.is_empty(), "what is not there cannot be had");
    let claimed = kit.claim(9, &Stage::default()).await;
    assert_eq!(claimed.len(), 1, "c is there, and nothing else");
    assert_eq!(queues.drop_dead(&[kit.jobs.id("c")]).await.expect("a look"), 0, "it lives");
    kit.settle(&claimed[0], &done()).await;
    assert_eq!(queues.drop_dead(&[kit.jobs.id("c")]).await.expect("a look"), 0, "it is done");
}

async fn listed(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let (gpu, api) = (kit.jobs.name("gpu"), kit.jobs.name("api"));
    kit.queues().set_capacity(&gpu, 2).await.expect("a resource");
    kit.queues().set_rate(&api, Rate::per_minute(6)).await.expect("a rate");
    kit.push_named(["a", "b"].map(str::to_owned)).await;
    assert_eq!(kit.claim(1, &held(&gpu)).await.len(), 1);
    let resources = kit.queues().resources().await.expect("a look");
    let (resource, units) = &resources[&gpu];
    assert_eq!((resource.capacity, *units), (2, 1));
    let rates = kit.queues().rates().await.expect("a look");
    assert_eq!(rates[&api].rate, Rate::per_minute(6));
    assert!(!rates.contains_key(&gpu) && !resources.contains_key(&api), "each is one of them");
    let queue = [kit.jobs.name("q")];
    kit.jobs.upkeep().pause_needs(&queue, "ann").await.expect("a pause");
    assert!(kit.claim(9, &Stage::default()).await.is_empty(), "it is paused");
    kit.jobs.upkeep().resume_needs(&queue).await.expect("a resume");
    assert_eq!(kit.names(9, &Stage::default()).await, ["b"]);
}

async fn noted(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let (queue, other) = (kit.jobs.name("q"), kit.jobs.name("other"));
    let stage = Stage { rates: vec!["api".to_owned()], ..batches(3, 60) };
    let note = [(queue.clone(), stage.clone()), (other.clone(), Stage::default())].into();
    kit.queues().note_stages(&note).await.expect("a note");
    let stages = kit.another().await.queues().stages().await.expect("a look");
    assert_eq!(stages.get(&queue), Some(&stage));
    assert_eq!(stages.get(&other), None, "that there is nothing to note is not noted");
    let nothing = [(queue.clone(), Stage::default())].into();
    kit.queues().note_stages(&nothing).await.expect("another note");
    let stages = kit.queues().stages().await.expect("a look");
    assert_eq!(stages.get(&queue), Some(&Stage::default()), "the last one counts");
    let odd = [("\0".to_owned(), stage)].into();
    assert!(kit.queues().note_stages(&odd).await.is_err(), "no queue is called so");
}

/// Messages of a resource that is full, more than one claim looks at, and one behind them that needs nothing.
async fn found_behind(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let full = kit.jobs.name("full");
    kit.queues().set_capacity(&full, 1).await.expect("a resource");
    let holding = |name: String| Message {
        columns: Columns { resources: [(full.clone(), 1)].into(), ..Columns::default() },
        ..kit.message(&name)
    };
    let many = cx.rounds(1_200, 12_500);
    let hidden: Vec<_> = (0..=many).map(|at| holding(format!("hidden{at:05}"))).collect();
    for page in hidden.chunks(500) {
        kit.push(page).await;
    }
    kit.push(&[kit.message("last")]).await;
    assert_eq!(kit.names(1, &Stage::default()).await, ["hidden00000"], "it holds all there is");
    let mut looks = 0;
    let found = loop {
        let found = kit.look(9, &Stage::default()).await;
        looks += 1;
        if !found.batches.is_empty() || looks > 5 {
            break found;
        }
        assert!(found.next_in.is_some(), "there is more to look at");
    };
    assert_eq!(found.batches.iter().flat_map(|it| kit.of(it)).collect::<Vec<_>>(), ["last"]);
    for _ in 0..2 {
        assert!(kit.claim(9, &Stage::default()).await.is_empty(), "the others cannot be had");
    }
}

async fn too_many(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let gpu = kit.jobs.name("gpu");
    kit.queues().set_capacity(&gpu, 2).await.expect("a resource");
    let holding = |name: &str, units: u32| Message {
        columns: Columns { resources: [(gpu.clone(), units)].into(), ..Columns::default() },
        ..kit.message(name)
    };
    let pushed = kit.queues().push(&[holding("a", 3), holding("b", 2)], "me").await;
    let never = JobProblem::TooManyUnits { resource: gpu.clone(), units: 3, capacity: 2 };
    assert_eq!(pushed.expect("a push"), [Err(never.clone()), Ok(Submitted::Submitted)]);
    let three = [(gpu.clone(), 3)].into();
    let refused = kit.queues().declare(&[].into(), &three).await;
    assert!(matches!(refused, Err(BackendError::Permit(it)) if it == never.into()));
    let kept = kit.queues().message(&kit.jobs.id("b")).await.expect("a look").expect("it is kept");
    assert_eq!(kept.resources, [(gpu.clone(), 2)].into());
    assert_eq!(kit.queues().message(&kit.jobs.id("a")).await.expect("a look"), None);
    // Somebody takes away what it was to hold: it waits, and goes on when that is back.
    kit.queues().set_capacity(&gpu, 1).await.expect("less of it");
    assert!(kit.claim(9, &Stage::default()).await.is_empty());
    kit.queues().set_capacity(&gpu, 2).await.expect("more of it");
    assert_eq!(kit.names(9, &Stage::default()).await, ["b"]);
}

/// A message and its stage name the same resource.
async fn with_stage(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let gpu = kit.jobs.name("gpu");
    kit.queues().set_capacity(&gpu, 1).await.expect("a resource");
    let stages = [(kit.jobs.name("q"), held(&gpu))].into();
    kit.queues().note_stages(&stages).await.expect("a note");
    let columns = Columns { resources: [(gpu.clone(), 1)].into(), ..Columns::default() };
    let message = Message { columns, ..kit.message("a") };
    let pushed = kit.queues().push(std::slice::from_ref(&message), "me").await.expect("a push");
    let never = JobProblem::TooManyUnits { resource: gpu.clone(), units: 2, capacity: 1 };
    assert_eq!(pushed, [Err(never)], "it would never be had");
    kit.queues().set_capacity(&gpu, 2).await.expect("more of it");
    kit.push(&[message]).await;
    let claimed = kit.claim(9, &held(&gpu)).await;
    assert_eq!(claimed.len(), 1);
    let (_, held) = kit.queues().resource(&gpu).await.expect("a look").expect("it is there");
    assert_eq!(held, 2);
}

/// For producers that wait while it is too deep.
async fn counted(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let queue = [kit.jobs.name("q"), kit.jobs.name("other")];
    let keyed = |name: &str| {
        let mut message = kit.message(name);
        message.job.key = Some(kit.jobs.name("k"));
        message
    };
    let mut later = kit.message("later");
    later.job.wake = Some(Moment::In(Duration::from_mins(1)));
    kit.push(&[keyed("a"), keyed("b"), kit.message("c"), kit.message("d"), later]).await;
    let depth =
        async |needs: &[String], most| kit.queues().depth(needs, most).await.expect("a count");
    assert_eq!(depth(&queue, 100).await, 5, "ready, in line for a key, asleep");
    assert_eq!((depth(&queue, 2).await, depth(&queue[1..], 2).await), (2, 0));
    assert_eq!(kit.names(2, &Stage::default()).await, ["a", "c"]);
    assert_eq!(depth(&queue, 100).await, 3, "without what is worked on");
}

async fn no_units(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let gpu = kit.jobs.name("gpu");
    kit.queues().set_capacity(&gpu, 2).await.expect("a resource");
    let columns = Columns { resources: [(gpu.clone(), 0)].into(), ..Columns::default() };
    kit.push(&[Message { columns, ..kit.message("a") }]).await;
    assert_eq!(kit.queues().message(&kit.jobs.id("a")).await.expect("a look"), None);
    assert_eq!(kit.names(9, &Stage::default()).await, ["a"]);
    let (_, held) = kit.queues().resource(&gpu).await.expect("a look").expect("it is there");
    assert_eq!(held, 0);
}

/// Of messages of one key, one can be had, whatever a claim was to take.
async fn for_what_is_had(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let slug = kit.jobs.name("openai");
    kit.queues().set_rate(&slug, Rate::per_hour(1).burst(4)).await.expect("a rate");
    let of = |need: &str, name: &str| {
        let key = Some(kit.jobs.name("k"));
        Message::from(NewJob { key, ..kit.jobs.job(name, need) })
    };
    kit.push(&[of("other", "x"), of("q", "a"), of("q", "b")]).await;
    let other = StageClaim::new("worker", &kit.jobs.name("other"), 1);
    let other = kit.queues().claim_stage(&other).await.expect("a claim").batches;
    assert_eq!(other.len(), 1, "it has the key");
    let stage = Stage { rates: vec![slug.clone()], ..Stage::default() };
    for _ in 0..5 {
        assert!(kit.claim(9, &stage).await.is_empty(), "another queue's has the key");
    }
    kit.finish(&other[0]).await;
    for name in ["a", "b"] {
        let claimed = kit.claim(9, &stage).await;
        assert_eq!(claimed.iter().flat_map(|it| kit.of(it)).collect::<Vec<_>>(), [name]);
        kit.finish(&claimed[0]).await;
    }
    kit.push_named(["c", "d", "e"].map(str::to_owned)).await;
    assert_eq!(kit.names(9, &stage).await, ["c", "d"], "two tokens are left");
}

async fn of_batches(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let of = |name: &str, fair: Option<&str>| {
        let job = kit.jobs.job(name, &batches_of("q"));
        Message { fair: fair.map(str::to_owned), ..job.into() }
    };
    let pushed = kit.queues().push(&[of("a", None)], "me").await.expect("a push");
    assert!(matches!(pushed[..], [Err(JobProblem::Name { what: "queue", .. })]), "{pushed:?}");
    let pushed = kit.queues().push(&[of("b", Some("k")), kit.message("c")], "me").await;
    let pushed = pushed.expect("a push");
    assert!(matches!(pushed[..], [Err(JobProblem::Name { .. }), Ok(_)]), "{pushed:?}");
}

async fn forgotten(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let of = |name: String, key: &str| Message { fair: Some(key.into()), ..kit.message(&name) };
    let a: Vec<_> = (0..3).map(|at| of(format!("a{at}"), "a")).collect();
    kit.push(&a).await;
    kit.push(&[of("b0".into(), "b")]).await;
    let queue = kit.jobs.name("q");
    let pruned = async || kit.queues().prune_turns(&queue, 100).await.expect("a prune");
    assert_eq!(pruned().await, 0, "nothing was claimed");
    assert_eq!(kit.names(2, &Stage::default()).await, ["a0", "b0"]);
    assert_eq!(pruned().await, 1, "b has had its turn");
    assert_eq!(pruned().await, 0);
    kit.push(&[of("b1".into(), "b"), of("a3".into(), "a")]).await;
    let rest = kit.names(9, &Stage::default()).await;
    assert_eq!(rest, ["a1", "b1", "a2", "a3"], "b joins the next round, as if it were remembered");
    assert_eq!(pruned().await, 2);
}

/// Units that are free again, and more of them.
async fn told(cx: Arc<Cx>) {
    let kit = QueueKit::new(&cx);
    let gpu = kit.jobs.name("gpu");
    kit.queues().set_capacity(&gpu, 1).await.expect("a resource");
    kit.push_named(["a".to_owned()]).await;
    let claimed = kit.claim(1, &held(&gpu)).await;
    let mut wakes = [kit.backend.wakes(), kit.backend.wakes()];
    kit.finish(&claimed[0]).await;
    hinted(&cx, &mut wakes[0], &Wake::permit(&*gpu)).await;
    kit.queues().set_capacity(&gpu, 2).await.expect("more of it");
    kit.queues().set_rate(&gpu, Rate::per_second(1)).await.expect("a rate of the same name");
    hinted(&cx, &mut wakes[1], &Wake::permit(&*gpu)).await;
}
