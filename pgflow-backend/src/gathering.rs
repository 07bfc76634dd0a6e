//! Calls that come while another one is under way, and then go together.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::{Semaphore, oneshot};

use crate::backend::BackendError;

/// Gathers calls: the first one goes at once; those that come meanwhile go together when it is back. So
/// nothing waits when there is little to do, and there are few transactions when there is much.
#[derive(Debug)]
pub struct Gathering<T, R> {
    waiting: Mutex<Vec<Waiting<T, R>>>,
    turn: Semaphore,
}

/// What may be the answer for those, too, who have not asked yet.
pub trait Answer: Sized {
    /// The same for another caller, if asking is in vain for now.
    fn for_others(&self) -> Option<Self>;
}

/// Nobody waits until each of many calls before his own has found out that nobody answers. A call that is
/// refused, or whose connection breaks, holds up nobody.
impl<T> Answer for Result<T, BackendError> {
    fn for_others(&self) -> Option<Self> {
        let error = self.as_ref().err()?;
        error.is_no_answer().then(|| Err(error.for_others()))
    }
}

#[derive(Debug)]
struct Waiting<T, R> {
    asked: Asked<T>,
    asker: oneshot::Sender<R>,
}

/// An item on its way. Whoever asked may be gone before it is sent.
#[derive(Debug)]
pub struct Asked<T> {
    item: T,
    /// Lives as long as the asker.
    asker: Weak<()>,
}

impl<T> Asked<T> {
    /// The item, unless nobody wants it any more: look just before it is sent.
    pub fn wanted(&self) -> Option<&T> {
        (self.asker.strong_count() > 0).then_some(&self.item)
    }

    /// The item, wanted or not.
    pub fn item(&self) -> &T {
        &self.item
    }
}

impl<T, R> Default for Gathering<T, R> {
    fn default() -> Self {
        Self { waiting: Mutex::default(), turn: Semaphore::new(1) }
    }
}

impl<T: Clone, R: Answer> Gathering<T, R> {
    /// The answer for this item. `deliver` is called by one of those who wait, for up to `most` of them, and
    /// answers in their order, whatever it likes for those that are not [wanted](Asked::wanted) any more. If that one is dropped on the way, the others ask again, so asking twice must be
    /// safe; and whoever calls this must go on polling, since others may wait for it.
    pub async fn send<F: Future<Output = Vec<R>>>(
        &self,
        item: T,
        most: usize,
        deliver: impl Fn(Vec<Asked<T>>) -> F,
    ) -> R {
        let here = Arc::new(());
        let mut answer = self.wait(item.clone(), &here);
        loop {
            tokio::select! {
                biased;
                answered = &mut answer => match answered {
                    Ok(answered) => return answered,
                    Err(_) => answer = self.wait(item.clone(), &here),
                },
                _turn = self.turn.acquire() => {
                    let (items, askers) = self.take(most);
                    if !items.is_empty() {
                        self.answer(askers, deliver(items).await);
                    }
                }
            }
        }
    }

    /// Whoever does not wait any more does not need it.
    fn answer(&self, askers: Vec<oneshot::Sender<R>>, answers: Vec<R>) {
        if answers.last().and_then(R::for_others).is_some() {
            for waiting in self.lock().drain(..) {
                let answer = answers.last().and_then(R::for_others);
                let _ = answer.map(|answer| waiting.asker.send(answer));
            }
        }
        for (asker, answer) in askers.into_iter().zip(answers) {
            let _ = asker.send(answer);
        }
    }

    fn wait(&self, item: T, here: &Arc<()>) -> oneshot::Receiver<R> {
        let (asker, answer) = oneshot::channel();
        let item = Asked { item, asker: Arc::downgrade(here) };
        self.lock().push(Waiting { asked: item, asker });
        answer
    }

    /// The next ones, without those that nobody waits for any more.
    fn take(&self, most: usize) -> (Vec<Asked<T>>, Vec<oneshot::Sender<R>>) {
        let mut waiting = self.lock();
        waiting.retain(|waiting| !waiting.asker.is_closed());
        let count = waiting.len().min(most);
        waiting.drain(..count).map(|waiting| (waiting.asked, waiting.asker)).unzip()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Waiting<T, R>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::task::JoinSet;

    use super::*;

    const SILENCE: u32 = u32::MAX;

    impl Answer for u32 {
        fn for_others(&self) -> Option<Self> {
            (*self == SILENCE).then_some(SILENCE)
        }
    }

    #[derive(Default)]
    struct Post {
        gathering: Gathering<u32, u32>,
        batches: Mutex<Vec<usize>>,
        wanted: Mutex<Vec<usize>>,
    }

    impl Post {
        async fn double(&self, item: u32, most: usize) -> u32 {
            let deliver = async |items: Vec<Asked<u32>>| {
                self.batches.lock().unwrap().push(items.len());
                tokio::time::sleep(Duration::from_millis(10)).await;
                let wanted = items.iter().filter_map(Asked::wanted).count();
                self.wanted.lock().unwrap().push(wanted);
                items.iter().map(|asked| asked.item().saturating_mul(2)).collect()
            };
            self.gathering.send(item, most, deliver).await
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_meanwhile_goes_together() {
        let post = Arc::new(Post::default());
        let mut calls = JoinSet::new();
        for item in 1..=100 {
            let post = post.clone();
            calls.spawn(async move { assert_eq!(post.double(item, 40).await, item * 2) });
        }
        calls.join_all().await;
        assert_eq!(*post.batches.lock().unwrap(), [1, 40, 40, 19]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_is_dropped_takes_nobody_with_it() {
        let post = Arc::new(Post::default());
        let call = |item| {
            let post = post.clone();
            tokio::spawn(async move { post.double(item, 40).await })
        };
        let (first, dropped, third, fourth) = (call(1), call(2), call(3), call(4));
        tokio::time::sleep(Duration::from_millis(5)).await;
        dropped.abort();
        tokio::time::sleep(Duration::from_millis(10)).await;
        third.abort(); // By now it delivers for the fourth as well.
        assert_eq!((first.await.unwrap(), fourth.await.unwrap()), (2, 8));
        let batches = post.batches.lock().unwrap();
        assert_eq!(*batches, [1, 2, 1], "nobody asked for the dropped one");
    }

    #[tokio::test(start_paused = true)]
    async fn who_leaves_on_the_way_is_noticed_before_it_is_sent() {
        let post = Arc::new(Post::default());
        let call = |item| {
            let post = post.clone();
            tokio::spawn(async move { post.double(item, 40).await })
        };
        let (first, second, leaving) = (call(1), call(2), call(3));
        tokio::time::sleep(Duration::from_millis(15)).await;
        leaving.abort(); // The second has it in its batch.
        assert_eq!((first.await.unwrap(), second.await.unwrap()), (2, 4));
        assert_eq!(*post.wanted.lock().unwrap(), [1, 1]);
    }

    #[tokio::test(start_paused = true)]
    async fn when_asking_is_in_vain_nobody_waits_for_his_turn() {
        let post = Arc::new(Post::default());
        let mut calls = JoinSet::new();
        for item in [SILENCE, 1, 2, 3] {
            let post = post.clone();
            calls.spawn(async move { post.double(item, 1).await });
        }
        assert_eq!(calls.join_all().await, [SILENCE; 4]);
        assert_eq!(post.double(7, 1).await, 14, "whoever comes later asks again");
        assert_eq!(*post.batches.lock().unwrap(), [1, 1]);
    }
}
