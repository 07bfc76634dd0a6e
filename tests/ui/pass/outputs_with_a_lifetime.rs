//! A `Cow` owns what it was read back from, whatever its lifetime says.
#![deny(warnings)]

use std::borrow::Cow;

use pgflow::prelude::*;
use pgflow::testing::{block_on, run};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Text<'a> {
    words: Cow<'a, str>,
}

/// Shows that it is meant to be stored with this lifetime.
type OwnText = Text<'static>;

#[flow(input = bool)]
mod greeting {
    use super::*;

    #[step]
    async fn word(run: bool) -> Result<Cow<'static, str>> {
        Ok(if run { Cow::Borrowed("hello") } else { Cow::Owned("bye".repeat(2)) })
    }

    #[step(depends_on = [word])]
    async fn text(word: Cow<'static, str>) -> Result<OwnText> {
        Ok(Text { words: word })
    }

    #[step(depends_on = [text])]
    async fn length(text: Text<'static>) -> Result<usize> {
        Ok(text.words.len())
    }
}

fn main() {
    let length = |polite| {
        let ran = block_on(run(greeting::Flow, polite)).expect("it runs");
        ran.output().expect("its output").length
    };
    assert_eq!((length(true), length(false)), (5, 6));
}
