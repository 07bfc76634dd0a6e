//! Spans around handlers, as a program's log shows them.

use std::io;
use std::sync::{Arc, Mutex};

use pgflow::prelude::*;
use pgflow_worker_tests::{Fresh, Outcome};
use serde_json::{Value, json};

#[flow(input = Vec<u32>, max_attempts = 2, base_delay = 1)]
mod traced {
    use super::*;

    #[step(map)]
    pub(crate) async fn each(item: u32, ctx: Context) -> Result<u32> {
        tracing::info!(item, "in the handler");
        if item == 7 && ctx.attempt() == 1 {
            return Err("not yet".into());
        }
        Ok(item)
    }

    #[step(depends_on = [each])]
    pub(crate) async fn sum(each: Vec<u32>) -> Result<u32> {
        let spawned = tokio::task::yield_now();
        tracing::Instrument::in_current_span(spawned).await;
        tracing::info!("in the handler");
        Ok(each.iter().sum())
    }
}

/// What was logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nobody panicked").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn lines(&self) -> Vec<Value> {
        let text = self.0.lock().expect("nobody panicked").clone();
        let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).expect("JSON")).collect()
    }
}

// For the whole process, as in a program: what tracing remembers of a place in the code is the same for all
// threads, and with a subscriber for one thread another test could switch it off.
#[tokio::test]
async fn spans_say_run_step_and_attempt() -> Outcome {
    let log = Log::default();
    let writer = log.clone();
    tracing_subscriber::fmt().json().with_writer(move || writer.clone()).init();
    let fresh = Fresh::memory().await?;
    let worker = fresh.work(traced::Flow).await?;
    let run = fresh.db.start(traced::Flow, &vec![5, 7]).await?;
    assert_eq!(run.output().await?.sum, 12);
    worker.stop().await?;
    let lines = log.lines();
    let spans: Vec<&Value> = lines
        .iter()
        .filter(|line| line["fields"]["message"] == "in the handler")
        .map(|line| &line["spans"])
        .collect();
    let (id, trace) = (run.id().to_string(), run.id().to_string().replace('-', ""));
    let wanted = |step: &str, index: u32, attempt: u32| {
        json!([
            { "name": "run", "run.id": id, "trace.id": trace, "flow": "traced" },
            { "name": "step", "step": step },
            { "name": "attempt", "index": index, "attempt": attempt },
        ])
    };
    let all = [("each", 0, 1), ("each", 1, 1), ("each", 1, 2), ("sum", 0, 1)];
    let all: Vec<Value> = all.map(|(step, index, attempt)| wanted(step, index, attempt)).into();
    assert_eq!(spans, all.iter().collect::<Vec<_>>());
    let is_ours = |line: &&Value| line["spans"][0]["run.id"] == id;
    let says_so = |line: &&Value| line["fields"]["message"] == "attempt failed";
    let failed = lines.iter().filter(is_ours).find(says_so);
    let failed = failed.expect("the log says that an attempt failed");
    assert_eq!(failed["spans"], all[1], "and which");
    assert_eq!(failed["fields"]["error"], "not yet");
    Ok(())
}
