//! Sending an answer.

use std::future::IntoFuture;
use std::pin::Pin;

use pgflow_machine::wait::{HookToken, Signal, SignalTo, Signalled};
use pgflow_machine::{RunId, TaskKey};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::backend::{Backend, Reply};
use crate::check::{AnswerOf, Lasts, WaitsForAnswer};
use crate::client::ClientError;
use crate::client::patience::patiently;
use crate::data_error::{What, write};
use crate::db::Db;
use crate::kept::kept;
use crate::{SignalIn, Step as _};

/// A type that does not mention the transaction: of what is none, the compiler would say so at each mention.
type Sending<'a> = Pin<Box<dyn Future<Output = Result<Signalled, ClientError>> + Send + 'a>>;

impl Db {
    /// An answer for whoever waits for this token, to be sent by `.await`. What comes of it is a [`Signalled`].
    ///
    /// Of answers to the same token with the same `resume_id`, such as the id of a webhook's delivery, one is delivered, however
    /// often and by however many it is sent. Without one, each is another answer, and a call whose reply got lost may be
    /// told that nobody waits any more.
    ///
    /// ```
    /// use pgflow::prelude::*;
    /// use pgflow::wait::Signalled;
    ///
    /// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let db = Db::connect("memory:").await?;
    /// // Nobody waits for it yet: it is kept, for seven days unless it says otherwise.
    /// let first = db.signal("order-42-approval", Some("mail-7"), &true).await?;
    /// assert_eq!(first, Signalled::Buffered);
    /// let again = db.signal("order-42-approval", Some("mail-7"), &true).await?;
    /// assert_eq!(again, Signalled::Duplicate);
    /// # Ok(()) })
    /// # }
    /// ```
    pub fn signal<T: Serialize + ?Sized>(
        &self,
        token: impl AsRef<str>,
        resume_id: Option<&str>,
        payload: &T,
    ) -> Signalling<'_> {
        let token = token.as_ref().parse::<HookToken>().map_err(ClientError::HookToken);
        let payload = write(What::Answer, payload).map_err(ClientError::Data);
        let sent = Signalling::new(self, token.map(SignalTo::Token), payload);
        match resume_id {
            Some(id) => sent.resume_id(id),
            None => sent,
        }
    }

    /// An answer that is sent if and only if the caller's transaction commits.
    pub fn signal_in<'a, T: Serialize + ?Sized>(
        &'a self,
        tx: &'a mut (dyn SignalIn + Send),
        token: impl AsRef<str>,
        resume_id: Option<&str>,
        payload: &T,
    ) -> Sending<'a> {
        Box::pin(self.signal(token, resume_id, payload).within(tx))
    }

    /// An answer for a step of a run, without its token: what it says is checked by the compiler.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow] mod article { use super::*; #[step] pub async fn approval(hook: Hook<bool>) -> Result<Waiting<bool>> { Ok(hook.wait()) } }
    /// # async fn example(db: pgflow::Db) -> Result<(), pgflow::ClientError> {
    /// let run = db.start(article::Flow, &()).await?;
    /// db.signal_step::<article::approval>(run.id(), &true).await?;
    /// assert!(run.output().await?.approval);
    /// # Ok(())
    /// # }
    /// # fn main() {}
    /// ```
    #[expect(clippy::needless_pass_by_value, reason = "an answer may be owned")]
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn signal_step<S: WaitsForAnswer>(&self, run: RunId, answer: impl AnswerOf<S::Answer>) -> Signalling<'_> {
        let task = TaskKey { run, step: S::Of::SLUG.to_owned(), index: 0 };
        let payload = (kept::<S::Of>().write)(answer.answer()).map_err(ClientError::Data);
        Signalling::new(self, Ok(SignalTo::Task(task)), payload)
    }
}

/// An answer that is sent when this is awaited.
#[must_use = "an answer is sent with `.await`"]
#[derive(Debug)]
pub struct Signalling<'a> {
    db: &'a Db,
    signal: Result<Signal, ClientError>,
}

impl<'a> Signalling<'a> {
    fn new(
        db: &'a Db,
        to: Result<SignalTo, ClientError>,
        payload: Result<Value, ClientError>,
    ) -> Self {
        Self { db, signal: to.and_then(|to| Ok(Signal::new(to, payload?))) }
    }

    fn with(mut self, change: impl FnOnce(&mut Signal)) -> Self {
        if let Ok(signal) = &mut self.signal {
            change(signal);
        }
        self
    }

    /// Of answers with the same one, one is delivered.
    pub fn resume_id(self, id: &str) -> Self {
        self.with(|signal| signal.resume_id = Some(id.to_owned()))
    }

    /// How long it is kept if nobody waits for it yet: seven days unless it is said.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn buffer_for<D>(self, time: D) -> Self where Self: Lasts<D> {
        let time = <Self as Lasts<D>>::time(time);
        self.with(|signal| signal.buffer_for = time)
    }

    /// For this element, if the step is a map.
    pub fn index(self, index: u32) -> Self {
        self.with(|signal| {
            if let SignalTo::Task(task) = &mut signal.to {
                task.index = index;
            }
        })
    }

    /// Sends it in a transaction: see [`Db::signal_in`].
    pub async fn within(self, tx: &mut (dyn SignalIn + Send)) -> Result<Signalled, ClientError> {
        Ok(tx.send_signal(&self.checked().await?).await?)
    }

    async fn checked(self) -> Result<Signal, ClientError> {
        let (limits, signal) = (self.db.limits().await?, self.signal?);
        signal.check(&limits)?;
        Ok(signal)
    }

    async fn send(self) -> Result<Signalled, ClientError> {
        let db = self.db;
        let mut signal = self.checked().await?;
        // It may be sent again when its answer got lost, and must not be delivered twice then.
        signal.resume_id.get_or_insert_with(|| Uuid::now_v7().to_string());
        Ok(patiently(db, move |backend| sent(backend, signal.clone())).await?)
    }
}

fn sent(backend: &dyn Backend, signal: Signal) -> Reply<'_, Signalled> {
    Box::pin(async move { backend.waits()?.signal(&signal).await })
}

impl<'a> IntoFuture for Signalling<'a> {
    type Output = Result<Signalled, ClientError>;
    type IntoFuture = Sending<'a>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}
