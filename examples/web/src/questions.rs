//! A flow that says what it writes word by word.

use std::time::Duration;

use pgflow::prelude::*;
use tokio::time::sleep;

/// What a run starts with.
#[data]
pub struct Question {
    /// What somebody wants to know.
    pub text: String,
}

/// A piece of the answer.
#[data]
pub struct Token {
    /// It.
    pub word: String,
}

/// Answers a question. The first attempt breaks off, so that readers see the second one begin anew.
#[flow(input = Question, base_delay = 0)]
pub mod answer {
    use super::{Context, Duration, Emit, Question, Result, Token, sleep};

    /// What a model might say.
    const WORDS: &str =
        "Because the sky is full of tiny things that throw blue light around more than red.";

    /// Says the answer word by word, and returns it whole.
    #[step]
    pub async fn write(run: Question, ctx: Context, out: Emit<Token>) -> Result<String> {
        for (place, word) in WORDS.split(' ').enumerate() {
            if ctx.attempt() == 1 && place == 4 {
                return Err("the model went away".into());
            }
            out.send(Token { word: word.to_owned() }).await?;
            sleep(Duration::from_millis(60)).await;
        }
        Ok(format!("{} {WORDS}", run.text))
    }
}
