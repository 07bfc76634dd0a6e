//! A worker's trip with tasks and jobs together.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::job::{JobEnd, JobHold, JobVerdict, Moment, NewJob, Wait};
use pgflow_machine::{Claim, Lease, Quota, Settle, Settled, Source, Verdict, Want, WorkerId};
use pgflow_runtime::backend::{Settlement, Trip};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::jobs::{JobKit, LEASE, done, hand_over};
use crate::kit::{Cx, completed, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("J37", "one trip settles tasks and jobs, and claims both", both, Jobs),
    check!("J38", "the kind that comes first fills the room, limits keep theirs", room, Jobs),
    check!("J39", "what a trip frees, it can claim", freed, Jobs),
    check!("J40", "an end that cannot be fails its job, and nothing else", refused, Jobs),
    check!("J41", "results of other leases change nothing, whatever goes along", fenced, Jobs),
];

const LASTS: Duration = Duration::from_secs(LEASE);

/// What a worker wants: tasks of a flow, and jobs of needs, of some no more than so many.
fn claim(kit: &JobKit, flow: &str, needs: &[(&str, Option<u32>)], max: u32) -> Claim {
    let mut wants = vec![Want::from(Source::queue(flow))];
    for (need, most) in needs {
        let quotas = most.map(|max| Quota { step: kit.name(need), max });
        let source = Source::Need(kit.name(need));
        wants.push(Want {
            source,
            quotas: quotas.into_iter().collect(),
            lease: Some(LASTS),
            stage: None,
            ahead: 0,
        });
    }
    Claim { wants, max, worker: WorkerId::new() }
}

async fn go(kit: &JobKit, settles: &[Settle], next: Option<&Claim>, first: bool) -> Settlement {
    let worker = next.map_or_else(WorkerId::new, |claim| claim.worker);
    let trip = Trip { worker, settles, next, turn: u32::from(!first) };
    let work = kit.jobs().settle_and_claim(&trip).await.expect("a trip");
    assert_eq!(work.settled.len(), settles.len(), "there is one outcome per settle");
    work
}

fn names(kit: &JobKit, work: &Settlement) -> Vec<String> {
    let jobs = work.claimed.jobs.iter();
    jobs.map(|(job, _)| kit.short(job.taken.hold.job.as_str()).to_owned()).collect()
}

fn holds(work: &Settlement) -> Vec<JobHold> {
    work.claimed.jobs.iter().map(|(job, _)| job.taken.hold.clone()).collect()
}

fn of_job(hold: &JobHold, verdict: JobVerdict) -> Settle {
    let lease = Lease::Job { hold: hold.clone(), lasts: LASTS };
    Settle { lease, verdict: Verdict::Job(Box::new(JobEnd { verdict, submits: Vec::new() })) }
}

async fn both(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let flow = cx.flow([single("a"), single("b")]).await;
    cx.start(&flow, json!({})).await;
    let hour = Some(Moment::In(Duration::from_hours(1)));
    let asleep = NewJob { wake: hour, ..kit.job("asleep", "m") };
    kit.submit(&[kit.job("x", "n"), kit.job("y", "n"), kit.job("z", "m"), asleep]).await;
    let wanted = claim(&kit, &flow, &[("n", None), ("m", None)], 10);
    let first = go(&kit, &[], Some(&wanted), true).await;
    assert_eq!((first.claimed.tasks.len(), names(&kit, &first).len()), (2, 3));
    let job = first.claimed.jobs.iter().find(|(job, _)| job.payload == json!({ "of": "y" }));
    let (job, lasts) = job.expect("jobs come with what they are about");
    assert_eq!((job.taken.row.attempts, *lasts), (1, LASTS));
    let next = first.claimed.next_in.expect("a lease lapses").as_secs();
    assert!(next <= LEASE, "{next} s until the first lease lapses");

    let settles: Vec<_> = [
        Settle { lease: first.claimed.tasks[0].lease.clone().into(), verdict: completed(1) },
        of_job(&holds(&first)[0], done()),
        Settle { lease: first.claimed.tasks[1].lease.clone().into(), verdict: completed(2) },
        of_job(&holds(&first)[1], hand_over(&kit, "m", &[])),
        of_job(&holds(&first)[2], JobVerdict::Released),
    ]
    .into();
    let second = go(&kit, &settles, Some(&wanted), false).await;
    assert_eq!(second.settled, [Settled::Applied; 5]);
    assert_eq!(names(&kit, &second).len(), 2, "the one handed over, and the one handed back");
    let again = go(&kit, &settles[..2], None, true).await;
    assert_eq!(again.settled, [Settled::AlreadySettled; 2]);
    assert!(again.claimed.is_empty(), "nothing was asked for");
}

async fn room(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let flow = cx.flow([single("a")]).await;
    for _ in 0..4 {
        cx.start(&flow, json!({})).await;
    }
    kit.submit(&["x", "y", "z"].map(|name| kit.job(name, "n"))).await;
    kit.submit(&["u", "v", "w"].map(|name| kit.job(name, "few"))).await;
    let wanted = claim(&kit, &flow, &[("n", None), ("few", Some(1))], 3);
    let tasks = go(&kit, &[], Some(&wanted), true).await;
    assert_eq!((tasks.claimed.tasks.len(), tasks.claimed.jobs.len()), (3, 0));
    let jobs = go(&kit, &[], Some(&wanted), false).await;
    assert_eq!((jobs.claimed.tasks.len(), jobs.claimed.jobs.len()), (0, 3));
    let wider = Claim { max: 10, ..wanted };
    let rest = go(&kit, &[], Some(&wider), false).await;
    assert_eq!(names(&kit, &jobs), ["x", "y", "z"]);
    assert_eq!((rest.claimed.tasks.len(), names(&kit, &rest)), (1, vec!["u".to_owned()]));
    let nothing = Claim { max: 0, ..wider };
    assert!(go(&kit, &[], Some(&nothing), true).await.claimed.is_empty());
}

async fn freed(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let flow = cx.flow([single("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    kit.submit(&[
        kit.job("first", "n"),
        kit.after("of job", "n", &[kit.on("first")]),
        kit.after("of run", "n", &[Wait::run(run.id)]),
        kit.after("of both", "n", &[Wait::run(run.id), kit.on("first")]),
    ])
    .await;
    let wanted = claim(&kit, &flow, &[("n", None)], 10);
    let first = go(&kit, &[], Some(&wanted), true).await;
    let [task] = &first.claimed.tasks[..] else { panic!("{first:?}") };
    let settles = [
        of_job(&holds(&first)[0], done()),
        Settle { lease: task.lease.clone().into(), verdict: completed(1) },
    ];
    let second = go(&kit, &settles, Some(&wanted), true).await;
    assert_eq!(names(&kit, &second), ["of job", "of run", "of both"]);
}

async fn refused(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let flow = cx.flow([single("a")]).await;
    cx.start(&flow, json!({})).await;
    kit.submit(&[kit.job("x", "n"), kit.job("y", "n")]).await;
    let wanted = claim(&kit, &flow, &[("n", None)], 10);
    let first = go(&kit, &[], Some(&wanted), true).await;
    let settles = [
        of_job(&holds(&first)[0], hand_over(&kit, "n", &[kit.on("nobody")])),
        Settle { lease: first.claimed.tasks[0].lease.clone().into(), verdict: completed(1) },
        of_job(&holds(&first)[1], done()),
    ];
    let second = go(&kit, &settles, Some(&wanted), true).await;
    assert_eq!(second.settled, [Settled::Applied; 3]);
    kit.expect(&[("x", "failed"), ("y", "done")]).await;
    let error = kit.record("x").await.summary.error.expect("it says why");
    assert!(error.contains("what comes next cannot be"), "{error}");
}

async fn fenced(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let flow = cx.flow([single("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    kit.submit(&[kit.job("x", "n"), kit.job("y", "n")]).await;
    let wanted = claim(&kit, &flow, &[("n", None)], 10);
    let first = go(&kit, &[], Some(&wanted), true).await;
    let [x, y] = &holds(&first)[..] else { panic!("{first:?}") };
    let swapped = JobHold { job: x.job.clone(), token: y.token.clone() };
    let mut stale = first.claimed.tasks[0].lease.clone();
    stale.attempt += 1;
    let settles = [
        of_job(&swapped, done()),
        Settle { lease: stale.into(), verdict: completed(1) },
        of_job(y, done()),
    ];
    let second = go(&kit, &settles, None, true).await;
    assert_eq!(second.settled, [Settled::Fenced, Settled::Fenced, Settled::Applied]);
    kit.expect(&[("x", "ACTIVE"), ("y", "done")]).await;
    kit.finish(x).await;
    run.apply(&first.claimed.tasks[0], completed(1)).await;
}
