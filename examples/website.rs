//! A flow from start to end, in this process: `cargo run --example website`.
//!
//! Prints the graph, the steps' states and the run's output. Nothing is stored: the in-process
//! runner is what tests use. The same module, unchanged, is what a worker runs from a database.

use pgflow::prelude::*;
use pgflow::testing::{self, StepStatus};

/// What a run starts with.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Site {
    url: String,
}

/// What was found there.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Page {
    text: String,
    links: Vec<String>,
}

/// Whether a link leads somewhere.
#[derive(Serialize, Deserialize, JsonSchema)]
struct LinkStatus {
    url: String,
    is_up: bool,
}

/// What a run ends with.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Report {
    url: String,
    score: usize,
    broken: Vec<String>,
}

#[flow(input = Site, max_attempts = 3, base_delay = 5, timeout = 60)]
mod analyze_website {
    use super::*;

    #[step]
    pub(crate) async fn website(run: Site) -> Result<Page> {
        let links = ["about", "blog", "missing"].map(|path| format!("{}/{path}", run.url));
        Ok(Page { text: "good, good, not bad".to_owned(), links: links.to_vec() })
    }

    #[step(depends_on = [website])]
    pub(crate) async fn sentiment(website: Page) -> Result<usize> {
        Ok(website.text.matches("good").count())
    }

    #[step(depends_on = [website])]
    pub(crate) async fn links(website: Page) -> Result<Vec<String>> {
        Ok(website.links)
    }

    #[step(map, depends_on = [links], timeout = "30s")]
    pub(crate) async fn check_link(item: String, ctx: Context) -> Result<LinkStatus> {
        if item.ends_with("blog") && ctx.attempt() == 1 {
            return Err("no answer, this time".into());
        }
        Ok(LinkStatus { is_up: !item.ends_with("missing"), url: item })
    }

    #[step(depends_on = [sentiment, check_link])]
    pub(crate) async fn report(
        run: Site,
        sentiment: usize,
        check_link: Vec<LinkStatus>,
    ) -> Result<Report> {
        let broken = check_link.into_iter().filter(|link| !link.is_up).map(|link| link.url);
        Ok(Report { url: run.url, score: sentiment, broken: broken.collect() })
    }
}

fn main() -> Result<()> {
    println!(
        "The graph, for any Mermaid viewer:\n\n{}",
        analyze_website::Flow::shape().to_mermaid()
    );

    let site = Site { url: "https://example.org".to_owned() };
    let run = testing::block_on(testing::run(analyze_website::Flow, site))?;
    println!("The run:");
    println!("  links       {}", tell(run.status::<analyze_website::links>()));
    println!("  check_link  {}", tell(run.status::<analyze_website::check_link>()));
    println!("  report      {}", tell(run.status::<analyze_website::report>()));
    println!("\nIts output: {:#?}", run.output()?.report);
    println!("\nNow rename a step, or change what one returns, and see what `cargo check` says.");
    Ok(())
}

fn tell(status: StepStatus) -> String {
    match status {
        StepStatus::Completed { attempts } => format!("completed after {attempts} attempts"),
        other => format!("{other:?}"),
    }
}
