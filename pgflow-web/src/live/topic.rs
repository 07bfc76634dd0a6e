//! What can be looked at live.

use std::time::Duration;

use pgflow_runtime::RunId;
use pgflow_runtime::backend::{self, Wake, Wakes};
use pgflow_runtime::job::JobId;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::Frame;
use crate::app::App;
use crate::error::PageError;
use crate::pages::{JobView, job_region, overview_region, run_region};
use crate::run_view::RunView;

/// Something to look at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Topic {
    Run(RunId),
    Job(JobId),
    /// With the path that its links are below.
    Overview(String),
}

/// How often to look.
struct Pace {
    /// Not more often than this, however many hints there are.
    pause: Duration,
    /// This often without any.
    fallback: Duration,
}

impl Topic {
    /// Reads it once. For a run, also the version whose hints concern it.
    pub(super) async fn read(&self, app: &App) -> Result<(Frame, Option<String>), PageError> {
        match self {
            Self::Run(id) => {
                let view = RunView::read(app, *id).await?;
                // A failed run may be retried; anything else that has ended has ended.
                let status = view.record.status;
                let is_last = status.has_ended() && status != pgflow_runtime::RunStatus::Failed;
                Ok((Frame::new(run_region(app, &view), is_last), Some(view.record.flow)))
            }
            Self::Job(id) => {
                let view = JobView::read(app, id).await?;
                let frame = Frame::new(job_region(app, &view), view.is_over());
                // No hint is about jobs: it is looked at every second.
                Ok((frame, Some(String::new())))
            }
            Self::Overview(base) => {
                Ok((Frame::new(overview_region(app, base).await?, false), None))
            }
        }
    }

    const fn pace(&self) -> Pace {
        let [pause, fallback] = match self {
            Self::Run(_) | Self::Job(_) => [100, 1_000],
            Self::Overview(_) => [1_000, 5_000],
        };
        Pace { pause: Duration::from_millis(pause), fallback: Duration::from_millis(fallback) }
    }

    /// Ready when it is worth looking again.
    pub(super) async fn changed(&self, wakes: &mut Wakes, looked: Instant, flow: Option<&str>) {
        let Pace { pause, fallback } = self.pace();
        let hint = async {
            loop {
                match wakes.next().await {
                    Wake::Gap => break,
                    Wake::Topic(backend::Topic::Queue(slug))
                        if flow.is_none_or(|flow| *flow == *slug) =>
                    {
                        break;
                    }
                    Wake::Topic(_) => {}
                }
            }
        };
        if timeout_at(looked + fallback, hint).await.is_ok() {
            sleep_until(looked + pause).await;
        }
    }
}
