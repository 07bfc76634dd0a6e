//! When live streams end.

use tokio_util::sync::CancellationToken;

/// Tells everything that would go on for ever to end. Clones are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(CancellationToken);

impl Stop {
    /// Now.
    pub(crate) fn now(&self) {
        self.0.cancel();
    }

    /// As soon as this is ready.
    pub(crate) fn when(&self, shutdown: impl Future<Output = ()> + Send + 'static) {
        let stop = self.clone();
        tokio::spawn(async move {
            shutdown.await;
            stop.now();
        });
    }

    /// Ready when it is time.
    pub(crate) async fn stopped(&self) {
        self.0.cancelled().await;
    }
}
