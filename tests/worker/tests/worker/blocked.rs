//! Handlers that block every thread of the application's runtime: calls of the database go on.

use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use pgflow::prelude::*;
use pgflow_worker_tests::{Fresh, Outcome, Working};
use sqlx::Connection;

const THREADS: usize = 2;
/// Whatever is waited for comes much earlier, or never.
const LONG: Duration = Duration::from_mins(1);

/// Keeps the threads of handlers, not only the handlers, until it is opened.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<Inside>, Condvar)>);

#[derive(Default)]
struct Inside {
    waiting: usize,
    is_open: bool,
}

impl Gate {
    fn wait(&self) {
        let mut state = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.waiting += 1;
        while !state.is_open {
            state = self.0.1.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// No thread is free any more. The runtime's clock stands still by then.
    fn wait_until_all_are_blocked(&self) {
        let since = Instant::now();
        while self.0.0.lock().unwrap_or_else(PoisonError::into_inner).waiting < THREADS {
            assert!(since.elapsed() < LONG, "the handlers do not begin");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Opens it, also when a test fails.
struct Opens(Gate);

impl Drop for Opens {
    fn drop(&mut self) {
        self.0.0.0.lock().unwrap_or_else(PoisonError::into_inner).is_open = true;
        self.0.0.1.notify_all();
    }
}

#[flow(input = Vec<u32>, timeout = 2, max_attempts = 1)]
mod blocking {
    use super::*;

    /// The run's input is read when the task begins.
    #[step(map)]
    pub(crate) async fn hold(run: Vec<u32>, item: u32, State(gate): State<Gate>) -> Result<u32> {
        gate.wait();
        Ok(item + run[0])
    }
}

#[flow(slug = "echo_blocked", input = u32)]
mod echo {
    use super::*;

    #[step]
    pub(crate) async fn again(run: u32) -> Result<u32> {
        Ok(run)
    }
}

/// A worker of twelve runs all of whose threads are blocked, while others start runs in the same program.
async fn block(fresh: &Fresh, gate: &Gate) -> Outcome<Working> {
    let db = &fresh.db;
    db.register(blocking::Flow).await?;
    db.register(echo::Flow).await?;
    for _ in 0..12 {
        db.start(blocking::Flow, &vec![1]).await?;
    }
    for _ in 0..8 {
        let db = db.clone();
        tokio::spawn(async move { while db.start(echo::Flow, &1).await.is_ok() {} });
    }
    let worker = Working::start(Worker::new(db).flow(blocking::Flow).state(gate.clone()));
    gate.wait_until_all_are_blocked();
    Ok(worker)
}

fn runtime() -> Outcome<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build()?)
}

/// What comes of some work on a thread and a runtime of its own.
fn elsewhere<T: Send + 'static>(
    work: impl Future<Output = Outcome<T>> + Send + 'static,
) -> Outcome<T> {
    let (sender, done) = mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        _ = sender.send(runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(work)));
    });
    done.recv_timeout(LONG)?
}

#[test]
fn the_file_can_be_written_on_sqlite() -> Outcome {
    let runtime = runtime()?;
    let gate = Gate::default();
    let opens = Opens(gate.clone());
    let fresh = runtime.block_on(Fresh::sqlite())?;
    let worker = runtime.block_on(block(&fresh, &gate))?;
    let db = fresh.db.clone();
    let run = elsewhere(async move { Ok(db.start(echo::Flow, &2).key("late").await?.id()) })?;
    drop(opens);
    runtime.block_on(async {
        assert!(fresh.db.get::<echo::Flow>(run).await?.is_some());
        assert_eq!(worker.stop().await?.lost, 0);
        Ok(())
    })
}

#[test]
fn leases_are_kept_on_postgres() -> Outcome {
    let runtime = runtime()?;
    let gate = Gate::default();
    let opens = Opens(gate.clone());
    let fresh = runtime.block_on(Fresh::postgres())?;
    let worker = runtime.block_on(block(&fresh, &gate))?;
    let url = fresh.url.clone();
    elsewhere(async move {
        let mut connection = sqlx::PgConnection::connect(&url).await?;
        let unkept = "select count(*) from pgflow.step_tasks
          where status = 'started' and coalesce(lease_until <= clock_timestamp(), true)";
        while sqlx::query_scalar::<_, i64>(unkept).fetch_one(&mut connection).await? > 0 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Ok(())
    })?;
    drop(opens);
    assert_eq!(runtime.block_on(worker.stop())?.lost, 0);
    Ok(())
}
