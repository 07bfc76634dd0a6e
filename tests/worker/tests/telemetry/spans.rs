//! Spans around handlers, as a program's log shows them.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pgflow::pipeline::{Batch, Pipeline, Queue};
use pgflow::prelude::*;
use pgflow_worker_tests::{Fresh, Outcome, Working};
use serde_json::{Value, json};
use sqlx::Connection as _;

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

#[job]
mod notes {
    use super::*;

    #[need(max_attempts = 2, base_delay = 0)]
    pub(crate) async fn write(ctx: JobContext) -> Result<Next> {
        tracing::info!("in the job");
        if ctx.attempt() == 1 {
            return Err("no pen".into());
        }
        Ok(Next::done(()))
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
    let everything = tracing_subscriber::fmt().json().with_max_level(tracing::Level::TRACE);
    everything.with_writer(move || writer.clone()).init();
    let fresh = Fresh::memory().await?;
    let worker = fresh.work(traced::Flow).await?;
    let run = fresh.db.start(traced::Flow, &vec![5, 7]).await?;
    assert_eq!(run.output().await?.sum, 12);
    worker.stop().await?;
    spans_of_jobs(&fresh, &log).await?;
    spans_of_messages(&fresh, &log).await?;
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
    ends_are_told(&log).await?;
    sqlx_is_quiet(&log).await
}

#[flow(slug = "ends", input = u8, max_attempts = 1)]
mod ends {
    use super::*;

    #[step]
    pub(crate) async fn one(run: u8) -> Result<u8> {
        if run == 0 { Err("no more".into()) } else { Ok(run) }
    }
}

/// A line when a run ends, with which and why, on every database.
async fn ends_are_told(log: &Log) -> Outcome {
    let all = [
        Fresh::memory().await?,
        Fresh::sqlite().await?,
        Fresh::mysql().await?,
        Fresh::postgres().await?,
    ];
    for fresh in all {
        fresh.db.register(ends::Flow).await?;
        let cancelled = fresh.db.start(ends::Flow, &1).await?;
        cancelled.cancel("no need").await?;
        let worker = fresh.work(ends::Flow).await?;
        let (completed, failed) =
            (fresh.db.start(ends::Flow, &1).await?, fresh.db.start(ends::Flow, &0).await?);
        completed.wait().await?;
        failed.wait().await?;
        worker.stop().await?;
        let lines = log.lines();
        for (run, level, message, error) in [
            (&completed, "INFO", "a run has completed", None),
            (&failed, "WARN", "a run has failed", Some("no more")),
            (&cancelled, "INFO", "a run was cancelled", None),
        ] {
            let id = run.id().to_string();
            let ours = lines.iter().filter(|line| line["fields"]["run"] == id.as_str());
            let said: Vec<&Value> = ours
                .filter(|line| {
                    line["fields"]["message"]
                        .as_str()
                        .is_some_and(|text| text.starts_with("a run "))
                })
                .collect();
            assert_eq!(said.len(), 1, "{}: {message}: {said:?}", fresh.url);
            let (line, fields) = (said[0], &said[0]["fields"]);
            assert_eq!((&line["level"], &fields["message"]), (&json!(level), &json!(message)));
            assert_eq!(fields["flow"], "ends");
            let told = fields["error"].as_str().unwrap_or_default();
            assert!(
                told.contains(error.unwrap_or_default()) && told.is_empty() == error.is_none(),
                "{line}"
            );
        }
    }
    Ok(())
}

/// What sqlx says of every statement by itself, it does not say of ours.
async fn sqlx_is_quiet(log: &Log) -> Outcome {
    let said = || {
        let lines = log.lines().into_iter();
        let of_sqlx = |line: &Value| {
            line["target"].as_str().is_some_and(|target| target.starts_with("sqlx::query"))
        };
        lines.filter(of_sqlx).collect::<Vec<_>>()
    };
    for fresh in [Fresh::sqlite().await?, Fresh::mysql().await?, Fresh::postgres().await?] {
        // Whoever made the database has spoken.
        let before = said().len();
        let worker = fresh.work(ends::Flow).await?;
        assert_eq!(fresh.db.start(ends::Flow, &1).await?.output().await?.one, 1);
        worker.stop().await?;
        assert_eq!(said().get(before), None, "{}", fresh.url);
    }
    let before = said().len();
    let mut other = sqlx::SqliteConnection::connect("sqlite::memory:").await?;
    sqlx::query("select 1").execute(&mut other).await?;
    assert!(said().len() > before, "this log would show it");
    Ok(())
}

/// Also that a job which is set aside is named, whoever has seen it first.
async fn spans_of_jobs(fresh: &Fresh, log: &Log) -> Outcome {
    crate::jobs::in_concern(&fresh.db, "named").await?;
    let worker = Working::start(Worker::new(&fresh.db).job(notes::Job));
    let job = fresh.db.submit::<notes::write>(&()).id("n1").await?;
    assert_eq!(job.wait().await?.word(), "done");
    let says = |line: &Value, message: &str| line["fields"]["message"] == message;
    let aside = "jobs have lost too many workers in a row: clear or cancel them";
    let names_it = |line: &Value| says(line, aside) && line["fields"]["jobs"] == "[\"named\"]";
    tokio::time::timeout(Duration::from_mins(1), async {
        while !log.lines().iter().any(names_it) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await?;
    worker.stop().await?;
    let lines = log.lines();
    let wanted = |attempt: u32| json!([{ "name": "job", "job.id": "n1", "need": "notes.write", "attempt": attempt }]);
    let spans: Vec<_> = lines.iter().filter(|line| says(line, "in the job")).collect();
    let spans: Vec<_> = spans.iter().map(|line| line["spans"].clone()).collect();
    assert_eq!(spans, [wanted(1), wanted(2)]);
    let no_pen = |line: &&Value| line["fields"]["error"] == "no pen";
    let failed = lines.iter().filter(|line| says(line, "attempt failed")).find(no_pen);
    assert_eq!(failed.expect("the log says that an attempt failed")["spans"], wanted(1));
    Ok(())
}

/// Of one by its name; of several by their batch.
async fn spans_of_messages(fresh: &Fresh, log: &Log) -> Outcome {
    let words = Queue::<String>::named("words");
    let wait = Duration::from_millis(10);
    let pipeline = Pipeline::new("shout", &words)
        .process(|word, ctx| async move {
            tracing::info!(batch = ctx.batch_id(), "at a message");
            Ok(word)
        })
        .batch(Batch::len(2).wait(wait), |batch, ctx| async move {
            tracing::info!(batch = ctx.batch_id(), "at a batch");
            Ok(batch.settle_all(|word| word))
        });
    let ids = words.push_all(&fresh.db, &["a".to_owned(), "b".to_owned()]).await?;
    let worker = Working::start(Worker::new(&fresh.db).concurrency(1).pipeline(pipeline));
    for id in &ids {
        assert_eq!(fresh.db.job(id).wait().await?.word(), "done");
    }
    worker.stop().await?;
    let lines = log.lines();
    let of = |message: &'static str| {
        let said = lines.iter().filter(move |line| line["fields"]["message"] == message);
        said.map(|line| (&line["fields"]["batch"], &line["spans"][0])).collect::<Vec<_>>()
    };
    for (id, (batch, span)) in ids.iter().zip(of("at a message")) {
        let wanted = json!({
            "name": "messages", "pipeline": "shout", "stage": "process", "batch.id": batch, "messages": 1,
            "job.id": id.as_str(),
        });
        assert_eq!(*span, wanted);
    }
    let batches = of("at a batch");
    assert!(!batches.is_empty());
    for (batch, span) in batches {
        assert_eq!((&span["stage"], &span["batch.id"]), (&json!("batch"), batch));
        let is_alone = span["messages"] == 1;
        assert_eq!(span["job.id"].is_string(), is_alone, "{span}");
    }
    Ok(())
}
