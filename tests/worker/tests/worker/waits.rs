//! Steps that wait for an answer or a moment, through a worker and a client.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pgflow::backend::DueQuery;
use pgflow::prelude::*;
use pgflow::{
    Run, RunStatus, Timestamp,
    client::Reason,
    wait::{Signalled, WaitingFor},
};
use pgflow_worker_tests::{Fresh, Outcome, Working, everywhere};
use serde_json::json;
use sqlx::{Connection as _, Executor as _};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout};

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// What was sent to people, and whether steps may go on after that.
#[derive(Clone)]
struct Mail {
    tokens: Arc<Mutex<Vec<String>>>,
    gate: Arc<Semaphore>,
}

impl Mail {
    fn open() -> Self {
        Self { tokens: Arc::default(), gate: Arc::new(Semaphore::new(1)) }
    }

    fn closed() -> Self {
        Self { gate: Arc::new(Semaphore::new(0)), ..Self::open() }
    }

    async fn send(&self, token: &str) {
        self.tokens.lock().expect("no test panics").push(token.to_owned());
        let _permit = self.gate.acquire().await.expect("nobody closes it");
    }

    /// The tokens, once there are so many.
    async fn read(&self, count: usize) -> Vec<String> {
        until(async || {
            let tokens = self.tokens.lock().expect("no test panics").clone();
            (tokens.len() >= count).then_some(tokens)
        })
        .await
    }
}

/// What comes, as long as it is waited for.
pub(crate) async fn until<T>(look: impl AsyncFn() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < deadline, "it does not come");
        sleep(Duration::from_millis(20)).await;
    }
}

/// How a run ends.
pub(crate) async fn ended<F: pgflow::Flow>(run: &Run<F>) -> Outcome<RunStatus> {
    Ok(timeout(PATIENCE, run.wait()).await??)
}

#[data]
struct Approval {
    by: String,
    amount: u32,
}

fn yes() -> Approval {
    Approval { by: "Ann".to_owned(), amount: 7 }
}

#[flow(input = String, base_delay = 0)]
mod article {
    use super::*;

    #[step]
    pub(crate) async fn approval(
        run: String,
        hook: Hook<Approval>,
        ctx: Context,
        State(mail): State<Mail>,
    ) -> Result<Waiting<Approval>> {
        mail.send(hook.token()).await;
        if run == "stumbles" && ctx.attempt() == 1 {
            return Err("the mail server hung up".into());
        }
        Ok(hook.wait())
    }

    #[step(depends_on = [approval])]
    pub(crate) async fn publish(run: String, approval: Approval) -> Result<String> {
        Ok(format!("{run}, approved by {}", approval.by))
    }
}

async fn worker(fresh: &Fresh, mail: &Mail) -> Outcome<Working> {
    fresh.db.register(article::Flow).await?;
    Ok(Working::start(Worker::new(&fresh.db).flow(article::Flow).state(mail.clone())))
}

async fn an_approval_ends_the_step(fresh: Fresh) -> Outcome {
    let mail = Mail::open();
    let working = worker(&fresh, &mail).await?;
    let run = fresh.db.start(article::Flow, "Waits".to_owned()).await?;
    let token = mail.read(1).await.remove(0);
    assert!(token.starts_with("hk_") && token.len() == 46, "{token}");
    until(async || run.hooks().await.ok().filter(|hooks| hooks.len() == 1)).await;
    let signal = async |id, payload| fresh.db.signal(&token, Some(id), &payload).await;
    let wrong = signal("mail-1", json!({ "by": "Ann", "amount": "seven" })).await?;
    assert!(matches!(&wrong, Signalled::Rejected { path, .. } if path == "/amount"), "{wrong:?}");
    let delivered = signal("mail-2", json!(yes())).await?;
    assert!(matches!(&delivered, Signalled::Delivered(task) if task.step == "approval"));
    assert_eq!(signal("mail-2", json!(yes())).await?, Signalled::Duplicate);
    assert_eq!(signal("mail-3", json!(yes())).await?, Signalled::Gone);
    assert_eq!(ended(&run).await?, RunStatus::Completed);
    assert_eq!(run.output().await?.publish, "Waits, approved by Ann");
    assert!(run.waits().await?.is_empty());
    working.stop().await?;
    Ok(())
}

/// The mail may be answered before the attempt that sent it ends.
async fn an_answer_is_not_lost_before_the_wait(fresh: Fresh) -> Outcome {
    let mail = Mail::closed();
    let working = worker(&fresh, &mail).await?;
    let run = fresh.db.start(article::Flow, "Waits".to_owned()).await?;
    let token = mail.read(1).await.remove(0);
    let early = fresh.db.signal(&token, Some("mail-1"), &yes()).await?;
    assert_eq!(early, Signalled::Buffered);
    let again = fresh.db.signal(&token, Some("mail-1"), &yes()).await?;
    assert_eq!(again, Signalled::Duplicate);
    mail.gate.add_permits(1);
    assert_eq!(ended(&run).await?, RunStatus::Completed);
    working.stop().await?;
    Ok(())
}

async fn a_retry_keeps_the_token(fresh: Fresh) -> Outcome {
    let mail = Mail::open();
    let working = worker(&fresh, &mail).await?;
    let run = fresh.db.start(article::Flow, "stumbles".to_owned()).await?;
    let tokens = mail.read(2).await;
    assert_eq!(tokens[0], tokens[1]);
    fresh.db.signal_step::<article::approval>(run.id(), &yes()).await?;
    assert_eq!(ended(&run).await?, RunStatus::Completed);
    working.stop().await?;
    Ok(())
}

async fn people_are_told_what_is_waited_for(fresh: Fresh) -> Outcome {
    let mail = Mail::open();
    let working = worker(&fresh, &mail).await?;
    let run = fresh.db.start(article::Flow, "Waits".to_owned()).await?;
    let hook = until(async || run.hooks().await.ok()?.pop()).await;
    assert_eq!((hook.task.step.as_str(), hook.attempt, hook.until), ("approval", 1, None));
    let steps = run.progress().await?;
    assert_eq!(steps[0].waits, std::slice::from_ref(&hook));
    let why = fresh.db.why(run.id()).await?;
    assert!(matches!(&why.reasons[0], Reason::Waiting { step, .. } if step == "approval"));
    let text = why.to_string();
    assert!(text.contains("1 task of step `approval` waits for an answer"), "{text}");
    assert!(!text.contains("hk_"), "a token is a secret: {text}");
    run.cancel(None).await?;
    let gone = fresh.db.signal_step::<article::approval>(run.id(), &yes()).await?;
    assert_eq!(gone, Signalled::Gone);
    assert!(run.hooks().await?.is_empty());
    working.stop().await?;
    Ok(())
}

#[flow(input = u32)]
mod named {
    use super::*;

    #[step]
    pub(crate) async fn payment(run: u32) -> Result<Waiting<u32>> {
        Ok(Hook::named(format!("order-{run}"))?.wait())
    }
}

async fn a_named_hook_can_be_answered_early(fresh: Fresh) -> Outcome {
    let early = fresh.db.signal("order-42", Some("webhook-1"), &100).await?;
    assert_eq!(early, Signalled::Buffered);
    let working = fresh.work(named::Flow).await?;
    let run = fresh.db.start(named::Flow, 42).await?;
    assert_eq!(ended(&run).await?, RunStatus::Completed);
    assert_eq!(run.output().await?.payment, 100);
    let other = fresh.db.start(named::Flow, 42).await?;
    let hook = until(async || other.hooks().await.ok()?.pop()).await;
    assert!(
        matches!(hook.on, WaitingFor::Hook { token: Some(token) } if token.as_str() == "order-42")
    );
    fresh.db.signal("order-42", None, &200).await?;
    assert_eq!(ended(&other).await?, RunStatus::Completed);
    working.stop().await?;
    Ok(())
}

#[flow(input = Vec<String>)]
mod votes {
    use super::*;

    #[step(map)]
    pub(crate) async fn vote(item: String, hook: Hook<u32>) -> Result<Waiting<u32>> {
        _ = item;
        Ok(hook.wait())
    }

    #[step(depends_on = [vote])]
    pub(crate) async fn count(vote: Vec<u32>) -> Result<Vec<u32>> {
        Ok(vote)
    }
}

async fn each_task_of_a_map_waits(fresh: Fresh) -> Outcome {
    let working = fresh.work(votes::Flow).await?;
    let run = fresh.db.start(votes::Flow, ["a", "b", "c"].map(str::to_owned).to_vec()).await?;
    until(async || run.hooks().await.ok().filter(|hooks| hooks.len() == 3)).await;
    for index in [2, 0, 1] {
        let sent =
            fresh.db.signal_step::<votes::vote>(run.id(), &(index * 10)).index(index).await?;
        assert!(matches!(sent, Signalled::Delivered(task) if task.index == index));
    }
    assert_eq!(ended(&run).await?, RunStatus::Completed);
    assert_eq!(run.output().await?.count, [0, 10, 20]);
    working.stop().await?;
    Ok(())
}

#[flow(input = u64)]
mod naps {
    use super::*;

    #[step]
    pub(crate) async fn nap(run: u64, ctx: Context) -> Result<Waiting<()>> {
        Ok(ctx.sleep(Duration::from_millis(run)))
    }

    #[step(wait_timeout = 1, max_attempts = 1, when_exhausted = skip)]
    pub(crate) async fn answer(hook: Hook<u8>) -> Result<Waiting<u8>> {
        Ok(hook.wait())
    }

    #[step(depends_on = [nap, answer])]
    pub(crate) async fn over(answer: Option<u8>) -> Result<bool> {
        Ok(answer.is_none())
    }
}

async fn a_sleep_ends_and_nobody_answers_in_time(fresh: Fresh) -> Outcome {
    let working = fresh.work(naps::Flow).await?;
    let run = fresh.db.start(naps::Flow, 300).await?;
    assert_eq!(ended(&run).await?, RunStatus::Completed);
    assert!(run.output().await?.over);
    let log: Vec<_> = fresh.db.backend().events(run.id(), 0, 100).await?;
    let log: Vec<_> = log.iter().map(|event| event.what.to_string()).collect();
    for what in ["step:waiting nap", "step:woken nap", "step:wait_timed_out answer"] {
        assert!(log.iter().any(|event| event.starts_with(what)), "{what} in {log:?}");
    }
    working.stop().await?;
    Ok(())
}

#[flow(input = i64)]
mod dawn {
    use super::*;

    #[step]
    pub(crate) async fn night(run: i64, ctx: Context) -> Result<Waiting<()>> {
        Ok(ctx.sleep_until(Timestamp::from_micros(run)))
    }

    #[step(depends_on = [night])]
    pub(crate) async fn rise() -> Result<u8> {
        Ok(1)
    }
}

async fn a_moment_is_waited_for(fresh: Fresh) -> Outcome {
    let working = fresh.work(dawn::Flow).await?;
    let over = fresh.db.start(dawn::Flow, 0).await?;
    assert_eq!(ended(&over).await?, RunStatus::Completed, "1970 is over");
    // On a busy machine a moment may be over before its wait is looked at.
    for far in [700, 5_000, 30_000].map(Duration::from_millis) {
        if slept_until(&fresh, far).await? {
            working.stop().await?;
            return Ok(());
        }
    }
    Err("no wait was seen before it was over".into())
}

/// Whether the wait was seen while it was one.
async fn slept_until(fresh: &Fresh, far: Duration) -> Outcome<bool> {
    let schedules = fresh.db.backend().schedules()?;
    let now = schedules.due_schedules(&DueQuery::default()).await?.now;
    let moment = now + far;
    let run = fresh.db.start(dawn::Flow, moment.micros()).await?;
    let asleep = until(async || match run.status().await.ok()? {
        RunStatus::Started => run.waits().await.ok()?.pop().map(Some),
        _ => Some(None),
    });
    let Some(asleep) = asleep.await else { return Ok(false) };
    assert_eq!((&asleep.on, asleep.until), (&WaitingFor::Sleep, Some(moment)));
    assert_eq!(ended(&run).await?, RunStatus::Completed);
    let events = fresh.db.backend().events(run.id(), 0, 100).await?;
    let woken = events.iter().find(|event| event.what.word() == "step:woken");
    assert!(woken.is_some_and(|woken| woken.at >= moment), "{moment:?}: {events:?}");
    Ok(true)
}

async fn what_waits_takes_no_slot(fresh: Fresh) -> Outcome {
    fresh.db.register(votes::Flow).await?;
    fresh.db.register(dawn::Flow).await?;
    let worker = Worker::new(&fresh.db).flow(votes::Flow).flow(dawn::Flow).concurrency(1);
    let working = Working::start(worker);
    let ballots: Vec<_> = (0..5).map(|number| number.to_string()).collect();
    let run = fresh.db.start(votes::Flow, ballots).await?;
    until(async || run.hooks().await.ok().filter(|hooks| hooks.len() == 5)).await;
    let asleep = fresh.db.start(dawn::Flow, i64::MAX).await?;
    until(async || asleep.waits().await.ok()?.pop()).await;
    // Six wait, and the only slot is free.
    for _ in 0..2 {
        let other = fresh.db.start(dawn::Flow, 0).await?;
        assert_eq!(ended(&other).await?, RunStatus::Completed);
    }
    for index in 0..5 {
        fresh.db.signal_step::<votes::vote>(run.id(), &index).index(index).await?;
    }
    assert_eq!(ended(&run).await?, RunStatus::Completed);
    assert_eq!(asleep.status().await?, RunStatus::Started);
    working.stop().await?;
    Ok(())
}

everywhere!(
    a_moment_is_waited_for,
    what_waits_takes_no_slot,
    an_approval_ends_the_step,
    an_answer_is_not_lost_before_the_wait,
    a_retry_keeps_the_token,
    people_are_told_what_is_waited_for,
    a_named_hook_can_be_answered_early,
    each_task_of_a_map_waits,
    a_sleep_ends_and_nobody_answers_in_time,
);

async fn an_answer_comes_with_its_caller(fresh: Fresh) -> Outcome {
    let mail = Mail::open();
    let working = worker(&fresh, &mail).await?;
    let run = fresh.db.start(article::Flow, "Waits".to_owned()).await?;
    until(async || run.hooks().await.ok().filter(|hooks| hooks.len() == 1)).await;
    let token = mail.read(1).await.remove(0);
    let begin = if fresh.url.starts_with("sqlite:") { "begin immediate" } else { "begin" };
    for commits in [false, true] {
        with_connection!(fresh, connection => {
            if fresh.url.starts_with("mysql:") {
                let mut tx = connection.begin().await?;
                let refused = fresh.db.signal_in(&mut tx, &token, None, &yes()).await;
                let refused = refused.expect_err("it does not see who came to wait");
                assert!(format!("{refused:?}").contains("READ COMMITTED"), "{refused:?}");
                drop(tx);
                connection.execute("set session transaction isolation level read committed").await?;
            }
            let mut tx = connection.begin_with(begin).await?;
            let sent = fresh.db.signal_in(&mut tx, &token, Some("form-7"), &yes()).await?;
            assert!(matches!(sent, Signalled::Delivered(_)), "{sent:?}");
            if commits { tx.commit().await? } else { tx.rollback().await? }
        });
        assert_eq!(run.hooks().await?.is_empty(), commits);
    }
    assert_eq!(ended(&run).await?, RunStatus::Completed);
    with_connection!(fresh, connection => {
        let refused = fresh.db.signal_in(&mut connection, &token, None, &yes()).await;
        assert!(refused.is_err(), "without a transaction it would be there at once");
    });
    working.stop().await?;
    Ok(())
}

mod in_transactions {
    use super::an_answer_comes_with_its_caller;

    pgflow_worker_tests::on!(sqlite: an_answer_comes_with_its_caller);
    pgflow_worker_tests::on!(mysql: an_answer_comes_with_its_caller);
    pgflow_worker_tests::on!(postgres: an_answer_comes_with_its_caller);
}
