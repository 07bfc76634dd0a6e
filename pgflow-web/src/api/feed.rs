//! One reader of a log, for all who are at its end.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pgflow_runtime::backend::BackendError;
use pgflow_runtime::{ClientError, RunId};
use tokio::sync::watch::{Receiver, Sender};

use super::line::Line;
use crate::app::App;

/// What is kept for readers that are a little behind.
const MOST_LINES: usize = 1_024;
const MOST_BYTES: usize = 4 << 20;

/// Logs that somebody is at the end of.
#[derive(Default)]
pub(crate) struct Feeds(Mutex<HashMap<RunId, Arc<Feed>>>);

/// The end of a log.
pub(super) struct Feed {
    window: Mutex<Window>,
    /// Counts changes of the window.
    news: Sender<u64>,
}

/// The last events.
struct Window {
    lines: VecDeque<Line>,
    bytes: usize,
    /// The number of the last event that it has or had.
    last: u64,
    end: Option<End>,
}

/// Why nothing more is read.
enum End {
    Over,
    Lost(Arc<ClientError>),
}

/// What a feed knows of the events after a number.
pub(super) enum Known {
    /// These.
    Lines(VecDeque<Line>),
    /// They are no longer here.
    Older,
    /// There are none yet.
    Newest,
    /// There are none, and there will be none.
    Over,
    /// The database does not answer.
    Lost(Arc<ClientError>),
}

impl Feeds {
    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Arc<Feed>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The feed of a run; the first who joins brings it to life, at the end of what it has read.
    pub(super) fn join(app: &App, run: RunId, flow: &str, last: u64) -> (Arc<Feed>, Receiver<u64>) {
        let mut feeds = app.feeds.lock();
        if let Some(feed) = feeds.get(&run) {
            return (feed.clone(), feed.news.subscribe());
        }
        let window = Window { lines: VecDeque::new(), bytes: 0, last, end: None };
        let feed = Arc::new(Feed { window: Mutex::new(window), news: Sender::new(0) });
        let news = feed.news.subscribe();
        feeds.insert(run, feed.clone());
        // A runtime that ends drops the follower at once, which takes the lock.
        drop(feeds);
        let follower = Follower { app: app.clone(), run, feed: feed.clone() };
        tokio::spawn(follower.follow(flow.to_owned(), last));
        (feed, news)
    }

    /// Ends a feed that nobody reads; whether that was so.
    fn forget(&self, run: RunId, feed: &Feed) -> bool {
        let mut feeds = self.lock();
        let is_idle = feed.news.receiver_count() == 0;
        if is_idle {
            feeds.remove(&run);
        }
        is_idle
    }
}

impl Feed {
    fn lock(&self) -> MutexGuard<'_, Window> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What follows the event of this number: so many at most.
    pub(super) fn after(&self, seq: u64, most: usize) -> Known {
        let window = self.lock();
        if seq >= window.last {
            return match &window.end {
                None => Known::Newest,
                Some(End::Over) => Known::Over,
                Some(End::Lost(error)) => Known::Lost(error.clone()),
            };
        }
        let first = window.lines.front().map_or(u64::MAX, |line| line.seq);
        if seq + 1 < first {
            return Known::Older;
        }
        let skipped = usize::try_from(seq + 1 - first).unwrap_or(usize::MAX);
        Known::Lines(window.lines.iter().skip(skipped).take(most).cloned().collect())
    }

    fn push(&self, line: Line) {
        let mut window = self.lock();
        window.last = line.seq;
        window.bytes += line.json.len();
        window.lines.push_back(line);
        while window.lines.len() > MOST_LINES
            || (window.bytes > MOST_BYTES && window.lines.len() > 1)
        {
            let Some(oldest) = window.lines.pop_front() else { break };
            window.bytes -= oldest.json.len();
        }
        drop(window);
        self.news.send_modify(|changes| *changes += 1);
    }

    /// Says why nothing more is read, unless that was said.
    fn end(&self, end: End) {
        self.lock().end.get_or_insert(end);
        self.news.send_modify(|changes| *changes += 1);
    }
}

/// Reads a log for all who are at its end.
struct Follower {
    app: App,
    run: RunId,
    feed: Arc<Feed>,
}

impl Follower {
    /// Reads until the run has ended, or nobody listens.
    async fn follow(self, flow: String, after: u64) {
        let Self { app, run, feed } = &self;
        let mut events = app.db.events_of(*run, after);
        loop {
            tokio::select! {
                event = events.next() => match event {
                    Some(Ok(event)) => feed.push(Line::new(&app.options, &flow, &event)),
                    Some(Err(error)) => return feed.end(End::Lost(Arc::new(error))),
                    None => return feed.end(End::Over),
                },
                () = feed.news.closed() => if app.feeds.forget(*run, feed) { return },
                () = app.options.stop.stopped() => return,
            }
        }
    }
}

/// However a follower ends: what the application redacts with may panic.
impl Drop for Follower {
    fn drop(&mut self) {
        let lost = BackendError::Unreachable("nobody reads the log any more".into());
        self.feed.end(End::Lost(Arc::new(lost.into())));
        // A run that has failed can be retried: whoever comes now begins another feed.
        let mut feeds = self.app.feeds.lock();
        if feeds.get(&self.run).is_some_and(|other| Arc::ptr_eq(other, &self.feed)) {
            feeds.remove(&self.run);
        }
    }
}
