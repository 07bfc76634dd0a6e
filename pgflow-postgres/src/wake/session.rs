//! A session that hints come and go on.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgListener, PgNotification, PgPoolOptions};
use sqlx::{Connection, Executor, PgConnection};
use tokio::time::{Instant, sleep_until, timeout};
use uuid::Uuid;

use super::super::error::timed_out;
use super::bell::{Bell, read};
use super::pace::Pace;
use super::{CHANNEL, listener::HintListener};
use pgflow_backend::backend::Wake;
use pgflow_backend::backoff::after;

/// How long anything may take.
const ANSWER: Duration = Duration::from_secs(10);

/// A connection on which hints are sent and, while somebody wants them, received.
pub(super) struct Session<'s> {
    hints: &'s HintListener,
    listener: PgListener,
    /// Our own notifications come back to us; this is how to know them.
    process: u32,
    is_listening: bool,
    pace: Pace,
    /// Where the session notifies itself to see whether it is still there.
    echo: String,
    check: Check,
}

/// What the check of the session does next, and when.
enum Check {
    Ask(Instant),
    Expect(Instant),
}

impl Check {
    fn when(&self) -> Instant {
        match self {
            Self::Ask(when) | Self::Expect(when) => *when,
        }
    }
}

impl<'s> Session<'s> {
    pub(super) async fn open(hints: &'s HintListener) -> Result<Self, sqlx::Error> {
        let mut listener = in_time("connecting", open(&hints.options)).await?;
        let process = in_time("a question", process(&mut listener)).await?;
        let echo = format!("pgflow_echo_{}", Uuid::now_v7().simple());
        let check = Check::Ask(after(Instant::now(), hints.check_every));
        let pace = Pace::new();
        Ok(Self { hints, listener, process, is_listening: false, pace, echo, check })
    }

    /// Until nobody needs it, or it fails.
    pub(super) async fn serve(&mut self) -> Result<(), sqlx::Error> {
        let bell = Arc::clone(&self.hints.bell);
        loop {
            if !self.hints.is_pooled && bell.is_heard() && !self.is_listening {
                self.listen().await?;
            }
            if bell.has_news() && self.pace.next() <= Instant::now() {
                self.ring(&bell).await?;
            }
            tokio::select! {
                heard = self.listener.try_recv(), if self.is_listening => match heard? {
                    Some(notification) => self.hear(&notification),
                    None => return Err(io::Error::from(io::ErrorKind::ConnectionReset).into()),
                },
                () = bell.stirred.notified() => {}
                () = sleep_until(self.pace.next()), if bell.has_news() => {}
                () = sleep_until(self.check.when()) => {
                    if !self.is_listening || !bell.is_heard() {
                        return Ok(());
                    }
                    self.check().await?;
                }
            }
        }
    }

    async fn listen(&mut self) -> Result<(), sqlx::Error> {
        let channels = [CHANNEL, self.echo.as_str()];
        in_time("listening", self.listener.listen_all(channels)).await?;
        self.is_listening = true;
        self.hints.bell.tell_here(Wake::Gap);
        Ok(())
    }

    async fn ring(&mut self, bell: &Bell) -> Result<(), sqlx::Error> {
        let news = bell.take_news();
        let sent =
            in_time("a hint", notify(&mut self.listener, CHANNEL, &news, self.hints.is_pooled))
                .await;
        if sent.is_err() {
            bell.put_back(news);
        }
        self.pace.rang(Instant::now());
        sent
    }

    fn hear(&mut self, notification: &PgNotification) {
        if notification.channel() == self.echo {
            self.check = Check::Ask(after(Instant::now(), self.hints.check_every));
        } else if notification.process_id() != self.process {
            self.hints.bell.tell_here(read(notification.payload()));
        }
    }

    /// A connection that is dead on the way looks like one on which nothing happens.
    async fn check(&mut self) -> Result<(), sqlx::Error> {
        let patience = self.hints.check_every / 3;
        if matches!(self.check, Check::Expect(_)) {
            return Err(timed_out("a notification of our own", patience));
        }
        self.check = Check::Expect(after(Instant::now(), patience));
        let nothing = [Arc::from("")];
        let sent = notify(&mut self.listener, &self.echo, &nothing, false);
        let late = |_| Err(timed_out("a notification", patience));
        timeout(patience, sent).await.unwrap_or_else(late)
    }
}

/// On a pool of its own, because that is what a listener takes its connection from.
async fn open(options: &PgConnectOptions) -> Result<PgListener, sqlx::Error> {
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .acquire_timeout(ANSWER)
        .max_lifetime(None)
        .idle_timeout(None)
        .connect_lazy_with(options.clone());
    let mut listener = PgListener::connect_with(&pool).await?;
    // Whoever reconnects must know that hints were missed.
    listener.eager_reconnect(false);
    Ok(listener)
}

async fn process(listener: &mut PgListener) -> Result<u32, sqlx::Error> {
    let row = listener.fetch_one(sqlx::raw_sql("select pg_backend_pid()")).await?;
    sqlx::Row::try_get::<i32, _>(&row, 0).map(i32::unsigned_abs)
}

/// The commit need not be on disk: a hint that is lost in a crash is not missed.
async fn notify(
    listener: &mut PgListener,
    channel: &str,
    payloads: &[Arc<str>],
    is_pooled: bool,
) -> Result<(), sqlx::Error> {
    let connection: &mut PgConnection = sqlx::Acquire::acquire(listener).await?;
    let payloads: Vec<&str> = payloads.iter().map(|payload| &**payload).collect();
    let statement = sqlx::query(
        "select set_config('synchronous_commit', 'off', true), pg_notify($1, p) from unnest($2::text[]) p",
    )
    .bind(channel)
    .bind(payloads);
    if !is_pooled {
        return statement.execute(connection).await.map(drop);
    }
    let mut transaction = connection.begin().await?;
    statement.persistent(false).execute(&mut *transaction).await?;
    transaction.commit().await
}

async fn in_time<T>(
    doing: &str,
    work: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, sqlx::Error> {
    timeout(ANSWER, work).await.unwrap_or_else(|_| Err(timed_out(doing, ANSWER)))
}
