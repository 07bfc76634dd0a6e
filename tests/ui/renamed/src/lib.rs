//! A crate that knows `pgflow` by another name, and depends on nothing else.

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

#[cfg(test)]
mod tests {
    use workflows::Flow as _;

    use super::{count_words, ping};

    #[test]
    fn the_flow_is_whole() {
        assert_eq!(count_words::Flow::SLUG, "count_words");
        assert_eq!(count_words::Flow::shape().steps.len(), 2);
        assert_eq!(ping::Flow::SLUG, "ping");
    }
}
