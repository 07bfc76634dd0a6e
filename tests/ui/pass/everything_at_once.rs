//! One flow that uses every feature.
#![deny(warnings, missing_docs, unreachable_pub)]

use std::collections::{BTreeSet, VecDeque};

use pgflow::prelude::*;
use pgflow::testing::{Runner, block_on};

/// A page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Page {
    url: String,
    links: BTreeSet<String>,
}

/// A flow over many inputs.
#[flow(input = Vec<String>, slug = "crawler", max_attempts = 4, timeout = "30s", base_delay = 1)]
pub mod crawl {
    #![doc = "Inner attributes stay first."]

    use std::io;

    use super::*;

    const LIMIT: usize = 10;

    /// Root map: one task per url.
    #[step(map, max_attempts = 2, start_delay = 0)]
    pub async fn fetch(item: String, ctx: Context, run: Vec<String>) -> Result<Page> {
        let links = run.into_iter().skip(ctx.index() + 1).collect();
        Ok(Page { url: item, links })
    }

    /// A dependency under another name, and the run's input.
    #[step(depends_on = [fetch as pages])]
    pub async fn count(pages: Vec<Page>, run: Vec<String>) -> io::Result<usize> {
        Ok(pages.len().min(run.len()).min(LIMIT))
    }

    /// May be skipped.
    #[step(depends_on = fetch, when_exhausted = skip)]
    pub async fn words(fetch: Vec<Page>) -> std::result::Result<VecDeque<String>, io::Error> {
        Ok(fetch.into_iter().map(|page| page.url).collect())
    }

    /// Maps over a sequence that is not a `Vec`, under another name.
    #[step(map, depends_on = [words as word])]
    pub async fn upper(word: String, State(suffix): State<char>) -> Result<String> {
        Ok(format!("{}{suffix}", word.to_uppercase()))
    }

    /// Waits for `count`, takes nothing from it; `words` may be missing; the context is unused.
    #[step(depends_on = [count, words, upper], slug = "the_end", unless = { "count": 99 }, when_unmet = fail)]
    pub async fn r#final(
        words: Option<VecDeque<String>>,
        upper: Vec<String>,
        _ctx: Context,
    ) -> Result<Vec<String>> {
        let words = words.ok_or("no words")?;
        Ok(words.into_iter().zip(upper).map(|(one, other)| one + &other).collect())
    }

    /// Not a step.
    #[must_use]
    pub fn helper() -> usize {
        LIMIT
    }
}

fn main() {
    assert_eq!(crawl::Flow::SLUG, "crawler");
    assert_eq!(crawl::r#final::SLUG, "the_end");
    assert_eq!(crawl::helper(), 10);
    let shape = crawl::Flow::shape();
    let order: Vec<_> = shape.steps.iter().map(|step| step.slug.as_str()).collect();
    assert_eq!(order, ["fetch", "count", "words", "upper", "the_end"]);
    let schemas = crawl::Flow::schemas().expect("there are schemas");
    assert_eq!(schemas.steps.len(), 5);

    let runner = Runner::default().state('!');
    let ran = block_on(runner.run(crawl::Flow, vec!["a".into(), "b".into()])).expect("it runs");
    assert_eq!(ran.step::<crawl::count>().expect("a number"), Some(2));
    assert_eq!(ran.output().expect("its output").r#final, ["aA!", "bB!"]);
}
