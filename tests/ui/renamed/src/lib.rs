//! A crate that knows `pgflow` by another name, and depends on nothing else.

use workflows::flow;

/// Needs `crate = …`, because there is no crate called `pgflow` here.
#[flow(input = Vec<String>, crate = workflows)]
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

#[cfg(test)]
mod tests {
    use workflows::Flow as _;

    use super::count_words;

    #[test]
    fn the_flow_is_whole() {
        assert_eq!(count_words::Flow::SLUG, "count_words");
        assert_eq!(count_words::Flow::shape().steps.len(), 2);
    }
}
