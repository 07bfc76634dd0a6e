//! Hints that wait to be sent.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pgflow_machine::RunId;
use pgflow_machine::log::StreamKey;
use tokio::sync::{Notify, broadcast};

use pgflow_backend::backend::{Topic, Wake, Wakes};

/// Hints that a slow receiver may lag behind by; then it gets a gap.
const BUFFER: usize = 1024;
/// Longer ones are no slugs and no needs of ours. NOTIFY takes up to 7,999 bytes.
const LONGEST: usize = 160;
/// More flows than this at once are told as "everything".
const MOST: usize = 64;

/// What a hint about a run that was cancelled begins with: no slug does.
const CANCELLED: &str = "cancelled:";
/// The same for a need of jobs.
const NEED: &str = "need:";
/// The same for a resource or rate.
const PERMIT: &str = "permit:";

/// What a hint about a stream begins with: no slug does.
const STREAM: &str = "stream:";

/// What a hint of another process says.
pub(super) fn read(payload: &str) -> Wake {
    let run = payload.strip_prefix(CANCELLED).and_then(|run| run.parse().ok());
    let stream = payload.strip_prefix(STREAM).and_then(|hint| u64::from_str_radix(hint, 16).ok());
    if let Some(slug) = payload.strip_prefix(PERMIT) {
        return Wake::permit(slug);
    }
    match (payload, run, stream, payload.strip_prefix(NEED)) {
        ("", ..) => Wake::Gap,
        (_, Some(run), ..) => Wake::run(run),
        (_, _, Some(stream), _) => Wake::Topic(Topic::Stream(stream)),
        (.., Some(need)) => Wake::need(need),
        (flow, ..) => Wake::queue(flow),
    }
}

/// Tells this process at once and others soon.
pub(crate) struct Bell {
    here: broadcast::Sender<Wake>,
    elsewhere: Mutex<BTreeSet<Arc<str>>>,
    /// Something is to be sent, or somebody came to listen.
    pub(super) stirred: Notify,
}

impl Bell {
    pub(crate) fn new() -> Self {
        let (here, _) = broadcast::channel(BUFFER);
        Self { here, elsewhere: Mutex::default(), stirred: Notify::new() }
    }

    /// Hints from now on.
    pub(crate) fn listen(&self) -> Wakes {
        let wakes = Wakes::new(self.here.subscribe());
        self.stirred.notify_one();
        wakes
    }

    /// Something about this version of a flow is new.
    pub(crate) fn ring(&self, flow: &Arc<str>) {
        self.tell_here(Wake::queue(Arc::clone(flow)));
        self.tell_elsewhere(flow);
    }

    /// Something is new, and nobody knows of which flow.
    pub(crate) fn ring_all(&self) {
        self.tell_here(Wake::Gap);
        self.tell_elsewhere(&Arc::from(""));
    }

    /// A run was cancelled.
    pub(crate) fn cancelled(&self, run: RunId) {
        self.tell_here(Wake::run(run));
        self.tell_elsewhere(&Arc::from(format!("{CANCELLED}{run}")));
    }

    /// A job that needs this may be had.
    pub(crate) fn ring_need(&self, need: &str) {
        self.tell_here(Wake::need(need));
        self.tell_elsewhere(&Arc::from(format!("{NEED}{need}")));
    }

    /// There may be more of a resource or rate.
    pub(crate) fn ring_permit(&self, slug: &str) {
        self.tell_here(Wake::permit(slug));
        self.tell_elsewhere(&Arc::from(format!("{PERMIT}{slug}")));
    }

    /// A stream has grown or ended.
    pub(crate) fn stream(&self, stream: &StreamKey) {
        self.tell_here(Wake::stream(stream));
        self.tell_elsewhere(&Arc::from(format!("{STREAM}{:x}", stream.hint())));
    }

    pub(super) fn tell_here(&self, wake: Wake) {
        // An error says that nobody listens.
        let _ = self.here.send(wake);
    }

    fn tell_elsewhere(&self, flow: &Arc<str>) {
        {
            let mut waiting = self.lock();
            if waiting.len() >= MOST || flow.len() > LONGEST {
                waiting.clear();
                waiting.insert(Arc::from(""));
            } else {
                waiting.insert(Arc::clone(flow));
            }
        }
        self.stirred.notify_one();
    }

    pub(super) fn is_heard(&self) -> bool {
        self.here.receiver_count() > 0
    }

    pub(super) fn has_news(&self) -> bool {
        !self.lock().is_empty()
    }

    pub(super) fn take_news(&self) -> Vec<Arc<str>> {
        std::mem::take(&mut *self.lock()).into_iter().collect()
    }

    /// What could not be sent.
    pub(super) fn put_back(&self, news: Vec<Arc<str>>) {
        self.lock().extend(news);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<Arc<str>>> {
        self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_storm_of_hints_stays_small() {
        let bell = Bell::new();
        for n in 0..100_000 {
            bell.ring(&Arc::from(format!("flow_{}", n % 50)));
        }
        assert_eq!(bell.take_news().len(), 50);
        assert!(!bell.has_news());
        for n in 0..1_000 {
            bell.ring(&Arc::from(format!("flow_{n}")));
        }
        let news = bell.take_news();
        assert!(news.len() <= MOST && news.contains(&Arc::from("")), "{news:?}");
    }

    #[test]
    fn a_cancelled_run_is_told_by_name() {
        let (bell, run) = (Bell::new(), RunId::new());
        bell.cancelled(run);
        let news = bell.take_news();
        assert_eq!(news.iter().map(|news| read(news)).collect::<Vec<_>>(), [Wake::run(run)]);
        assert_eq!(read("orders"), Wake::queue("orders"));
        assert_eq!(read("cancelled:something"), Wake::queue("cancelled:something"));
        bell.ring_need("gpu.render");
        assert_eq!(read(&bell.take_news()[0]), Wake::need("gpu.render"));
        bell.ring_permit("gpu:0");
        assert_eq!(read(&bell.take_news()[0]), Wake::permit("gpu:0"));
    }

    #[test]
    fn a_stream_is_told_by_its_hint() {
        let (bell, stream) = (Bell::new(), StreamKey::named("logs/42").unwrap());
        bell.stream(&stream);
        let news = bell.take_news();
        assert_eq!(news.iter().map(|news| read(news)).collect::<Vec<_>>(), [Wake::stream(&stream)]);
        assert_eq!(read("stream:of consciousness"), Wake::queue("stream:of consciousness"));
    }

    #[test]
    fn what_is_sent_is_short() {
        let bell = Bell::new();
        bell.ring(&Arc::from("x".repeat(8_000)));
        assert_eq!(bell.take_news(), [Arc::from("")]);
    }
}
