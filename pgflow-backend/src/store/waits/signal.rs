//! What is sent to those who wait.

use pgflow_machine::wait::{
    Deliver, Delivery, HookToken, KEPT_AT_MOST, Signal, SignalTo, Signalled, WaitRow, orphaned,
};
use pgflow_machine::{Limits, Needs, Rows, RunStatus, TaskKey};
use serde_json::Value;
use uuid::Uuid;

use super::wake::advance;
use crate::backend::BackendError;
use crate::store::execute::{News, again, execute, hint};
use crate::store::{Access, OpenWait, Session, SignalRow, Store, Stored, WaitSession, WaitsOf};

/// So often the task behind a token may be another one than it was a moment before.
const TRIES: u32 = 10;

pub(super) async fn signal<S: Store>(store: &S, signal: &Signal) -> Stored<Signalled> {
    store.check_free()?;
    let limits = store.limits();
    for _ in 0..TRIES {
        if let Some((signalled, news)) = again!(store, transact(store, signal, limits))? {
            let waits = news.waits;
            hint(store, news);
            if waits {
                advance(store).await;
            }
            return Ok(signalled);
        }
    }
    Err(BackendError::Unavailable("the hook is being taken by one task after another".into()))
}

/// Nothing if it has to be done again, because the token is another task's now.
async fn transact<S: Store>(
    store: &S,
    signal: &Signal,
    limits: Limits,
) -> Stored<Option<(Signalled, News)>> {
    let to = match &signal.to {
        SignalTo::Task(task) => Some(task.clone()),
        SignalTo::Token(token) => store.begin(Access::Read).await?.find_hook(token).await?,
    };
    let mut session = store.begin(Access::Write).await?;
    let done = send(&mut session, signal, to, limits).await?;
    if done.is_some() {
        store.commit(session).await?;
    }
    Ok(done)
}

/// Sends a signal in a transaction that may write.
pub async fn signal_in<S: Session>(
    session: &mut S,
    signal: &Signal,
    limits: Limits,
) -> Stored<Signalled> {
    for _ in 0..TRIES {
        let to = match &signal.to {
            SignalTo::Task(task) => Some(task.clone()),
            SignalTo::Token(token) => session.find_hook(token).await?,
        };
        if let Some((signalled, _)) = send(session, signal, to, limits).await? {
            return Ok(signalled);
        }
    }
    Err(BackendError::Unavailable("the hook is being taken by one task after another".into()))
}

/// What signals to the same place have in common. A token that was announced stands for its task.
fn target(signal: &SignalTo, to: Option<&TaskKey>) -> String {
    match (signal, to) {
        (SignalTo::Token(token), Some(task)) if token.is_announced() => of_task(task),
        (SignalTo::Token(token), _) => of_token(token),
        (SignalTo::Task(task), _) => of_task(task),
    }
}

fn of_token(token: &HookToken) -> String {
    format!("hook:{}", token.as_str())
}

fn of_task(TaskKey { run, step, index }: &TaskKey) -> String {
    format!("task:{run}/{step}/{index}")
}

/// To the task that the look before has found, if it still is that one.
async fn send<S: Session>(
    session: &mut S,
    signal: &Signal,
    to: Option<TaskKey>,
    limits: Limits,
) -> Stored<Option<(Signalled, News)>> {
    signal.check(&limits).map_err(|why| BackendError::Unstorable(why.into()))?;
    if let Some(task) = &to {
        session.load(&Needs::of_tasks([task]), &mut Rows::default()).await?;
    }
    if let SignalTo::Token(token) = &signal.to
        && session.lock_hook(token).await? != to
    {
        return Ok(None);
    }
    let (target, made) = (target(&signal.to, to.as_ref()), Uuid::now_v7().to_string());
    let resume_id = signal.resume_id.as_deref().unwrap_or(&made);
    let digest = signal.resume_id.as_ref().map(|_| digest(&signal.payload));
    let run = to.as_ref().map(|to| to.run);
    let row = SignalRow { target: &target, resume_id, run, digest, kept: None };
    if digest.is_some()
        && let Some(known) = known(session, row).await?
    {
        return Ok(Some((known, News::default())));
    }
    let Some(task) = to else { return keep_unowned(session, signal, row).await.map(Some) };
    let (delivery, news) = offer(session, signal, &task, limits).await?;
    let signalled = match delivery {
        Delivery::Delivered(_) => {
            session.put_signal(row).await?;
            Signalled::Delivered(task)
        }
        Delivery::NotYet => {
            keep(session, signal, row).await?;
            Signalled::Buffered
        }
        Delivery::Unfit(why) => {
            let (path, message) =
                why.map(|why| (why.path.clone(), why.message())).unwrap_or_default();
            Signalled::Rejected { path, message }
        }
        Delivery::Over => Signalled::Gone,
    };
    Ok(Some((signalled, news)))
}

/// What is said to a signal whose resume id was used before.
async fn known<S: Session>(session: &mut S, row: SignalRow<'_>) -> Stored<Option<Signalled>> {
    let Some(found) = session.find_signal(row.target, row.resume_id).await? else {
        return Ok(None);
    };
    // One that was kept for too long was never delivered, whoever may come to sweep it.
    if found.expires_at.is_some_and(|expires_at| expires_at <= session.now()) {
        session.drop_signal(found.number).await?;
        return Ok(None);
    }
    let is_same = found.digest.is_none() || found.digest == row.digest;
    Ok(Some(if is_same { Signalled::Duplicate } else { Signalled::Conflict }))
}

/// A payload in short, to tell whether another one is the same.
fn digest(payload: &Value) -> Uuid {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, ordered(payload).to_string().as_bytes())
}

/// With the fields of objects in one order, whatever a map of this program keeps them in.
fn ordered(value: &Value) -> Value {
    match value {
        Value::Array(elements) => elements.iter().map(ordered).collect(),
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| *name);
            fields.into_iter().map(|(name, value)| (name.clone(), ordered(value))).collect()
        }
        other => other.clone(),
    }
}

/// A token that nobody has.
async fn keep_unowned<S: Session>(
    session: &mut S,
    signal: &Signal,
    row: SignalRow<'_>,
) -> Stored<(Signalled, News)> {
    let SignalTo::Token(token) = &signal.to else { return Ok((Signalled::Gone, News::default())) };
    if token.is_announced() {
        return Ok((Signalled::Gone, News::default()));
    }
    keep(session, signal, row).await?;
    Ok((Signalled::Buffered, News::default()))
}

async fn keep<S: Session>(session: &mut S, signal: &Signal, row: SignalRow<'_>) -> Stored<()> {
    if session.kept_signals(row.target).await?.len() >= KEPT_AT_MOST {
        return Err(BackendError::TooManySignals { limit: KEPT_AT_MOST });
    }
    let until = session.now() + signal.buffer_for;
    session.put_signal(SignalRow { kept: Some((&signal.payload, until)), ..row }).await
}

/// Completes the task, if it waits for this and the payload fits.
async fn offer<S: Session>(
    session: &mut S,
    signal: &Signal,
    task: &TaskKey,
    limits: Limits,
) -> Stored<(Delivery, News)> {
    let open = session.load_wait(task).await?;
    let is_meant = |wait: &&WaitRow| match &signal.to {
        SignalTo::Token(token) => wait.token.as_ref() == Some(token),
        SignalTo::Task(_) => wait.token.is_some(),
    };
    let wait = open.as_ref().filter(is_meant);
    deliver(session, &Deliver::new(task, wait, [signal.payload.clone()], limits), task).await
}

async fn deliver<S: Session>(
    session: &mut S,
    deliver: &Deliver<'_>,
    task: &TaskKey,
) -> Stored<(Delivery, News)> {
    let (delivery, news) = execute(session, deliver).await?;
    if matches!(delivery, Delivery::Delivered(_)) {
        session.close_waits(WaitsOf::Task(task), &orphaned(task.run, RunStatus::Started)).await?;
    }
    Ok((delivery, news))
}

/// Gives a task that has just begun to wait the first signal that was kept for it and fits. Those before it that do not are dropped:
/// nobody will ever take them, and those who sent them may send better ones. The log says so.
pub(super) async fn deliver_kept<S: Session>(
    session: &mut S,
    wait: &OpenWait,
    limits: Limits,
) -> Stored<News> {
    let Some(token) = &wait.row.token else { return Ok(News::default()) };
    let mut kept = session.kept_signals(&of_token(token)).await?;
    kept.extend(session.kept_signals(&of_task(&wait.task)).await?);
    // The first that came, whatever it was sent to. One after the other, because all together may be large.
    kept.sort_unstable();
    let mut all = News::default();
    for number in kept {
        let payload = session.kept_payload(number).await?;
        let command = Deliver::new(&wait.task, Some(&wait.row), [payload], limits).kept();
        let (delivery, news) = deliver(session, &command, &wait.task).await?;
        all.extend(news);
        match delivery {
            Delivery::Delivered(_) => {
                session.use_signal(number, wait.task.run).await?;
                break;
            }
            Delivery::Unfit(_) => session.drop_signal(number).await?,
            Delivery::NotYet | Delivery::Over => break,
        }
    }
    Ok(all)
}
