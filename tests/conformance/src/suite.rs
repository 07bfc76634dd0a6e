//! Runs checks and says what came of them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;

use crate::kit::{Cx, aftermath};
use crate::subject::Subject;
use crate::{Check, checks};

/// Longer than any check takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);
/// With as many rounds as the specification asks for.
const LONG_PATIENCE: Duration = Duration::from_mins(30);

/// What to run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// As many rounds as the specification asks for.
    pub long: bool,
    /// Only checks whose ids begin with one of these; all if there are none.
    pub only: Vec<String>,
}

impl Options {
    /// From `PGFLOW_TEST_LONG` and `PGFLOW_TEST_ONLY`.
    pub fn from_env() -> Self {
        let long = std::env::var("PGFLOW_TEST_LONG").is_ok_and(|value| value == "1");
        let only = std::env::var("PGFLOW_TEST_ONLY").unwrap_or_default();
        let only = only.split(',').filter(|id| !id.is_empty()).map(str::to_owned).collect();
        Self { long, only }
    }

    fn wants(&self, check: &Check) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| check.id.starts_with(&**only))
    }
}

/// What came of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The backend does what it must.
    Passed,
    /// It does not: what was seen.
    Failed(String),
    /// The backend says that it can't do what this is about.
    DoesNotApply,
}

/// A check and what came of it.
#[derive(Clone, Debug)]
pub struct Report {
    /// The check.
    pub check: Check,
    /// What came of it.
    pub verdict: Verdict,
    /// How long it took.
    pub took: Duration,
}

/// Runs all checks, spread over subjects of the same kind: those of one subject run one after the other. The reports
/// are in the order of [`checks::all`].
pub async fn run(subjects: &[Arc<dyn Subject>], options: &Options) -> Vec<Report> {
    let wanted: Vec<_> = checks::all().into_iter().filter(|check| options.wants(check)).collect();
    let next = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let lanes = subjects.iter().map(|subject| {
        let (next, wanted, long) = (Arc::clone(&next), wanted.clone(), options.long);
        let subject = Arc::clone(subject);
        async move {
            let mut reports = Vec::new();
            loop {
                let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let Some(check) = wanted.get(at) else { return reports };
                reports.push((at, run_one(&*subject, *check, long).await));
            }
        }
    });
    let mut reports: Vec<_> = join_all(lanes).await.into_iter().flatten().collect();
    reports.sort_by_key(|(at, _)| *at);
    reports.into_iter().map(|(_, report)| report).collect()
}

async fn run_one(subject: &dyn Subject, check: Check, long: bool) -> Report {
    let began = Instant::now();
    let cx = Arc::new(Cx::new(subject.fresh().await, check.id, long));
    let verdict = if check.needs.are_met(&*cx.backend()) {
        judge(check, &cx, if long { LONG_PATIENCE } else { PATIENCE }).await
    } else {
        Verdict::DoesNotApply
    };
    cx.end().await;
    Report { check, verdict, took: began.elapsed() }
}

/// On a task of its own, so that a panic is a verdict.
async fn judge(check: Check, cx: &Arc<Cx>, patience: Duration) -> Verdict {
    let (body, aftermath) = ((check.body)(Arc::clone(cx)), aftermath(Arc::clone(cx)));
    let mut task = tokio::spawn(async move {
        body.await;
        aftermath.await;
    });
    match tokio::time::timeout(patience, &mut task).await {
        Ok(Ok(())) => Verdict::Passed,
        Ok(Err(error)) => Verdict::Failed(panic_text(error)),
        Err(_) => {
            task.abort();
            Verdict::Failed(format!("was not done after {} s", patience.as_secs()))
        }
    }
}

fn panic_text(error: tokio::task::JoinError) -> String {
    let Ok(panic) = error.try_into_panic() else { return "was aborted".into() };
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    text.unwrap_or_else(|| "panicked without a text".into())
}

/// Prints a line per check, and panics if one failed.
///
/// # Panics
/// With the failures.
pub fn assert_passed(name: &str, reports: &[Report]) {
    for report in reports {
        println!("{name} {report}");
    }
    let failures: Vec<_> =
        reports.iter().filter(|r| matches!(r.verdict, Verdict::Failed(_))).collect();
    let texts: Vec<_> = failures.iter().map(ToString::to_string).collect();
    assert!(texts.is_empty(), "{} of {} failed:\n{}", texts.len(), reports.len(), texts.join("\n"));
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (word, why) = match &self.verdict {
            Verdict::Passed => ("ok", None),
            Verdict::Failed(why) => ("FAILED", Some(why)),
            Verdict::DoesNotApply => ("does not apply", None),
        };
        let seconds = self.took.as_secs_f64();
        write!(f, "{} {word} {seconds:.2} s: {}", self.check.id, self.check.title)?;
        why.map_or(Ok(()), |why| write!(f, "\n    {}", why.replace('\n', "\n    ")))
    }
}
