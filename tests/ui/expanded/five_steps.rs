//! The flow whose expansion is reviewed.

use pgflow::prelude::*;

#[flow(input = String, max_attempts = 3)]
pub mod analyze_text {
    use super::*;

    #[step]
    async fn words(run: String) -> Result<Vec<String>> {
        Ok(run.split_whitespace().map(str::to_owned).collect())
    }

    #[step(map, depends_on = [words])]
    async fn length(item: String, ctx: Context) -> Result<usize> {
        Ok(item.len() * ctx.attempt() as usize)
    }

    #[step(depends_on = [words], timeout = 30, when_exhausted = skip)]
    async fn longest(words: Vec<String>) -> Result<Option<String>> {
        Ok(words.into_iter().max_by_key(String::len))
    }

    #[step(depends_on = [length as lengths])]
    async fn total(lengths: Vec<usize>) -> Result<usize> {
        Ok(lengths.into_iter().sum())
    }

    #[step(depends_on = [longest, total])]
    async fn report(run: String, longest: Option<Option<String>>, total: usize) -> Result<String> {
        Ok(format!("{run}: {total}, {}", longest.flatten().unwrap_or_default()))
    }
}
