//! What all readers of a stream in this process share: its end, as it grows.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use pgflow_machine::log::{End, StreamKey};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::backend::{Backend, BackendError, Chunk, PageSize, StreamPage, Topic, Wake, Wakes};
use crate::calls;
use crate::client::again;

/// Looks again after this time without a hint.
pub(super) const FALLBACK: Duration = Duration::from_secs(1);
/// Never looks more often than this, however many hints there are.
pub(super) const PAUSE: Duration = Duration::from_millis(3);
/// What is kept for readers that are a little behind.
const MOST_CHUNKS: usize = 1_024;
const MOST_BYTES: usize = 4 << 20;

/// Looks again so soon, at first, when the attempt has said all and is not settled yet: nobody hints at that, and it is a matter of
/// milliseconds.
const SOON: Duration = Duration::from_millis(2);

/// How long to wait for a hint.
#[derive(Debug, Default)]
pub(super) struct Patience {
    soon: Duration,
}

impl Patience {
    /// With a stream that stands like this.
    pub(super) fn with(&mut self, stands: Option<&StreamPage>) -> Duration {
        let is_ending = |page: &StreamPage| page.end == Some(End::Eof) && !page.is_over;
        if !stands.is_some_and(is_ending) {
            self.soon = Duration::ZERO;
            return FALLBACK;
        }
        // Whoever should have settled it may be gone.
        self.soon = (self.soon * 2).clamp(SOON, FALLBACK);
        self.soon
    }
}

/// The end of a stream. While anybody holds it, one task looks for all.
#[derive(Debug)]
pub(super) struct Feed {
    window: Mutex<Window>,
    /// Counts looks.
    looks: watch::Sender<u64>,
}

/// The last chunks.
#[derive(Debug, Default)]
struct Window {
    chunks: VecDeque<Chunk>,
    bytes: usize,
    /// Where the stream stands, without chunks; nothing if the last look failed.
    stands: Option<StreamPage>,
    /// Nobody looks any more.
    is_done: bool,
}

impl Feed {
    /// Begins to look.
    pub(super) fn start(backend: &Arc<dyn Backend>, stream: &StreamKey) -> Arc<Self> {
        let feed = Arc::new(Self { window: Mutex::default(), looks: watch::Sender::new(0) });
        let (weak, backend) = (Arc::downgrade(&feed), Arc::clone(backend));
        calls::spawn(follow(weak, backend, stream.clone()));
        feed
    }

    /// Whether it is of use to a new reader.
    pub(super) fn is_live(&self) -> bool {
        !self.lock().is_done
    }

    /// Tells when somebody has looked.
    pub(super) fn looks(&self) -> watch::Receiver<u64> {
        self.looks.subscribe()
    }

    /// What is there from this number on; nothing if that is not known here.
    pub(super) fn page(&self, at: u64) -> Option<StreamPage> {
        let window = self.lock();
        let stands = window.stands.as_ref()?;
        // A reader of a generation that is over has to be told of the next one in any case.
        let first = window.chunks.front().map_or(stands.next, |chunk| chunk.number);
        if at < first && at < stands.next {
            return None;
        }
        let skipped = usize::try_from(at.saturating_sub(first)).unwrap_or(usize::MAX);
        let page = window.chunks.iter().skip(skipped).take(PageSize::default().chunks as usize);
        Some(StreamPage { chunks: page.cloned().collect(), ..stands.clone() })
    }

    /// Where the next look begins; nothing if it is to be found out.
    fn next(&self) -> Option<u64> {
        Some(self.lock().stands.as_ref()?.next)
    }

    /// Takes what was read; whether there is more to read at once.
    fn take(&self, from: Option<u64>, page: Result<Option<StreamPage>, BackendError>) -> bool {
        let mut window = self.lock();
        let mut is_behind = false;
        match page {
            // Another stream of its name is another feed's.
            Ok(Some(page)) if window.is_of_another(&page) => {
                *window = Window { is_done: true, ..Window::default() };
            }
            Ok(Some(mut page)) => {
                let chunks = std::mem::take(&mut page.chunks);
                let read = from.map(|from| from + chunks.len() as u64);
                is_behind = read.is_some_and(|read| read < page.next);
                window.is_done = page.is_over && !is_behind;
                // What is not read yet is not there yet, for those who read here.
                if let Some(read) = read.filter(|_| is_behind) {
                    (page.next, page.end, page.is_over) = (read, None, false);
                }
                window.extend(chunks);
                window.stands = Some(page);
            }
            // Readers find out for themselves what is wrong.
            Ok(None) | Err(_) => *window = Window::default(),
        }
        drop(window);
        self.looks.send_modify(|looks| *looks += 1);
        is_behind
    }

    fn lock(&self) -> MutexGuard<'_, Window> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Window {
    fn is_of_another(&self, page: &StreamPage) -> bool {
        self.stands.as_ref().is_some_and(|stands| stands.id.is_some() && stands.id != page.id)
    }

    fn extend(&mut self, chunks: Vec<Chunk>) {
        self.bytes += chunks.iter().map(|chunk| chunk.data.len()).sum::<usize>();
        self.chunks.extend(chunks);
        while self.chunks.len() > MOST_CHUNKS || (self.bytes > MOST_BYTES && self.chunks.len() > 1)
        {
            let Some(oldest) = self.chunks.pop_front() else { break };
            self.bytes -= oldest.data.len();
        }
    }
}

/// Looks until nobody reads, or nothing more can come.
async fn follow(feed: Weak<Feed>, backend: Arc<dyn Backend>, stream: StreamKey) {
    // Before the first look, so that no hint after it is missed.
    let (mut wakes, mut patience) = (backend.wakes(), Patience::default());
    loop {
        let looked = Instant::now();
        let Some(from) = feed.upgrade().map(|feed| feed.next()) else { return };
        let page = look(&backend, &stream, from).await;
        let Some(feed) = feed.upgrade() else { return };
        let is_behind = feed.take(from, page);
        if !feed.is_live() {
            return;
        }
        let latest = looked + patience.with(feed.lock().stands.as_ref());
        drop(feed);
        if !is_behind {
            changed(&mut wakes, &stream, looked, latest).await;
        }
    }
}

async fn look(
    backend: &Arc<dyn Backend>,
    stream: &StreamKey,
    from: Option<u64>,
) -> Result<Option<StreamPage>, BackendError> {
    let size = if from.is_some() { PageSize::default() } else { PageSize::NOTHING };
    let from = from.unwrap_or_default();
    again(|| async { backend.streams()?.read_stream(stream, from, size).await }).await
}

/// Ready when it is worth looking again, and then in any case.
pub(super) async fn changed(
    wakes: &mut Wakes,
    stream: &StreamKey,
    looked: Instant,
    latest: Instant,
) {
    let is_about = |wake: Wake| match wake {
        Wake::Gap => true,
        Wake::Topic(Topic::Stream(hint)) => hint == stream.hint(),
        Wake::Topic(Topic::Run(run)) => {
            matches!(stream, StreamKey::Task(task) if task.run == run)
        }
        Wake::Topic(Topic::Queue(_) | Topic::Need(_) | Topic::Permit(_)) => false,
    };
    let hint = async { while !is_about(wakes.next().await) {} };
    if timeout_at(latest, hint).await.is_ok() {
        sleep_until((looked + PAUSE).min(latest)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chunks of so many bytes, from this number on.
    fn page(from: u64, many: u64, bytes: usize) -> StreamPage {
        let chunk = |number| Chunk { number, generation: 0, data: vec![0; bytes] };
        StreamPage {
            chunks: (from..from + many).map(chunk).collect(),
            id: Some(1),
            next: from + many,
            generation: 0,
            begins_at: 0,
            end: None,
            is_over: false,
        }
    }

    fn fed(pages: impl IntoIterator<Item = StreamPage>) -> Feed {
        let feed = Feed { window: Mutex::default(), looks: watch::Sender::new(0) };
        for page in pages {
            let from = page.chunks.first().map(|chunk| chunk.number);
            assert!(!feed.take(from, Ok(Some(page))), "nothing is left to read");
        }
        feed
    }

    /// How many chunks, and how many bytes.
    fn kept(feed: &Feed) -> (usize, usize) {
        let window = feed.lock();
        (window.chunks.len(), window.bytes)
    }

    #[test]
    fn a_window_is_kept_and_no_more() {
        let most = MOST_CHUNKS as u64;
        let feed = fed([page(0, most, 1), page(most, 10, 1)]);
        assert_eq!(feed.page(9), None, "who is further behind reads for itself");
        let first = feed.page(10).expect("the oldest that is kept").chunks[0].number;
        assert_eq!((first, feed.lock().chunks.len()), (10, MOST_CHUNKS));
        assert_eq!(feed.page(most + 10).expect("the end").chunks, []);
    }

    #[test]
    fn large_chunks_make_it_shorter() {
        let feed = fed([page(0, 5, MOST_BYTES / 4)]);
        assert_eq!(kept(&feed), (4, MOST_BYTES));
        let one = fed([page(0, 2, MOST_BYTES * 2)]);
        assert_eq!(kept(&one), (1, MOST_BYTES * 2), "one is always kept");
        assert!(one.page(0).is_none() && one.page(1).is_some());
    }

    #[test]
    fn who_has_said_all_is_looked_at_again_soon_and_less_and_less_often() {
        let (said_all, mut patience) =
            (StreamPage { end: Some(End::Eof), ..page(0, 1, 1) }, Patience::default());
        let waits: Vec<_> = (0..12).map(|_| patience.with(Some(&said_all))).collect();
        assert_eq!((waits[0], waits[1], waits[11]), (SOON, SOON * 2, FALLBACK));
        let goes_on = page(0, 1, 1);
        assert_eq!(patience.with(Some(&goes_on)), FALLBACK);
        assert_eq!(patience.with(Some(&said_all)), SOON, "another attempt has said all");
        assert_eq!(patience.with(Some(&StreamPage { is_over: true, ..said_all })), FALLBACK);
    }

    #[test]
    fn nothing_is_kept_of_a_stream_that_was_deleted() {
        for id in [None, Some(2)] {
            let feed = fed([page(0, 5, 1)]);
            assert!(feed.page(0).is_some());
            assert!(!feed.take(Some(5), Ok(Some(StreamPage { id, ..page(5, 0, 1) }))));
            assert!(feed.page(0).is_none() && !feed.is_live(), "whoever comes begins another one");
        }
    }
}
