//! A crate that knows `pgflow` by another name, and depends on nothing else.
//!
//! It has all lints of clippy but those that contradict each other, so that they are run on generated code.
#![warn(clippy::pedantic, clippy::nursery, clippy::cargo)]
#![allow(clippy::cargo_common_metadata, clippy::multiple_crate_versions)]

use workflows::flow;

/// There is no crate called `pgflow` here; the macros find its name in the manifest.
#[flow(input = Vec<String>)]
pub mod count_words {
    use workflows::prelude::*;

    /// Words of one text.
    #[step(map)]
    pub async fn words(item: String) -> Result<usize> {
        Ok(item.split_whitespace().count())
    }

    /// Words of all texts.
    #[step(depends_on = [words], max_attempts = 2)]
    pub async fn total(words: Vec<usize>) -> Result<usize> {
        Ok(words.into_iter().sum())
    }
}

/// The name may also be given.
#[flow(crate = workflows)]
pub mod ping {
    use workflows::prelude::*;

    /// What comes back.
    #[data]
    pub struct Pong {
        /// How often.
        pub times: u32,
    }

    /// Answers.
    #[step]
    pub async fn pong() -> Result<Pong> {
        Ok(Pong { times: 1 })
    }
}

/// Seen in this crate only.
#[flow(input = u32)]
pub(crate) mod inner {
    use workflows::prelude::*;

    #[step]
    async fn first(run: u32, ctx: Context) -> Result<u32> {
        Ok(run + ctx.attempt())
    }

    #[step(depends_on = [first])]
    async fn second() -> Result<()> {
        Ok(())
    }
}

/// What only this crate sees, drawn.
#[must_use]
pub fn drawing() -> String {
    use workflows::Flow as _;

    inner::Flow::shape().to_mermaid()
}

#[cfg(test)]
mod tests {
    use workflows::Flow as _;

    use super::{count_words, drawing, ping};

    #[test]
    fn the_flow_is_whole() {
        assert_eq!(count_words::Flow::SLUG, "count_words");
        assert_eq!(count_words::Flow::shape().steps.len(), 2);
        assert_eq!(ping::Flow::SLUG, "ping");
        assert!(drawing().contains("second"));
    }
}
