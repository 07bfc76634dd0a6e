//! A step that says what it writes word by word, and a reader that shows it: `cargo run --example tokens -- sqlite:tokens.db`.
//!
//! Without a database it runs in memory. The first attempt breaks off in the middle, so that the reader sees the second one
//! begin anew.

use std::io::Write;
use std::time::Duration;

use pgflow::prelude::*;
use pgflow::stream::Emitted;
use tokio::time::sleep;

/// What a run starts with.
#[data]
struct Question {
    text: String,
}

/// A piece of the answer.
#[data]
struct Token {
    word: String,
}

#[flow(input = Question, base_delay = 0)]
mod answer {
    use super::{Context, Duration, Emit, Question, Result, Token, sleep};

    /// What a model might say.
    const WORDS: &str =
        "Because the sky is full of tiny things that throw blue light around more than red.";

    #[step]
    pub(crate) async fn write(run: Question, ctx: Context, out: Emit<Token>) -> Result<usize> {
        for (place, word) in WORDS.split(' ').enumerate() {
            if ctx.attempt() == 1 && place == 4 {
                return Err("the model went away".into());
            }
            out.send(Token { word: word.to_owned() }).await?;
            sleep(Duration::from_millis(60)).await;
        }
        Ok(run.text.len())
    }
}

#[tokio::main]
async fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "memory:".to_owned());
    let db = Db::connect(&url).await?;
    db.migrate().await?;
    db.register(answer::Flow).await?;
    let worker = Worker::new(&db).flow(answer::Flow).spawn();

    let run = db.start(answer::Flow, &Question { text: "Why is the sky blue?".to_owned() }).await?;
    let mut tokens = run.stream::<answer::write>();
    while let Some(said) = tokens.next().await {
        match said? {
            Emitted::Chunk { value, .. } => print!("{} ", value.word),
            _ => print!("\n(once more) "),
        }
        std::io::stdout().flush()?;
    }
    println!("\nread to the end; the step output {}", run.output().await?.write);
    worker.stop();
    worker.await?;
    Ok(())
}
