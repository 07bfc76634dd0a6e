//! A flow whose steps say what a test tells them to.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use pgflow::prelude::*;
use tokio::sync::Semaphore;

/// What a run is given.
#[data]
pub struct Story {
    /// What is said, one after the other.
    pub words: Vec<String>,
    /// The attempts that break off after the first word.
    pub broken: u32,
}

/// What tests hold the steps back with.
#[derive(Clone, Debug)]
pub struct Breath {
    /// Every word takes one.
    pub words: Arc<Semaphore>,
    /// Attempts that have begun.
    pub attempts: Arc<AtomicU32>,
}

impl Breath {
    /// For so many words.
    pub fn of(words: usize) -> Self {
        Self { words: Arc::new(Semaphore::new(words)), attempts: Arc::default() }
    }
}

/// Tells a story, then each of its words once more.
#[flow(input = Story, max_attempts = 2, base_delay = 0, timeout = 60)]
pub mod tale {
    use super::{Breath, Context, Emit, Ordering, Result, State, Story};

    #[step]
    async fn tell(
        run: Story,
        ctx: Context,
        out: Emit<String>,
        breath: State<Breath>,
    ) -> Result<Vec<String>> {
        breath.attempts.fetch_add(1, Ordering::SeqCst);
        for (place, word) in run.words.iter().enumerate() {
            breath.words.acquire().await.map_err(|_| "out of breath")?.forget();
            out.send(word.clone()).await?;
            if place == 0 && ctx.attempt() <= run.broken {
                return Err("it broke off".into());
            }
        }
        Ok(run.words)
    }

    #[step(map, depends_on = [tell])]
    async fn echo(item: String, out: Emit<String>) -> Result<usize> {
        out.send(format!("{item}, {item}")).await?;
        Ok(item.len())
    }
}

impl Story {
    /// Of these words.
    pub fn of(words: &[&str]) -> Self {
        Self { words: words.iter().map(|word| (*word).to_owned()).collect(), broken: 0 }
    }
}
