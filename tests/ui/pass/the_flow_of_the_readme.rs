//! A flow as the documentation shows it.
#![deny(warnings)]

use pgflow::prelude::*;
use pgflow::testing::{block_on, run};

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Site {
    url: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Report {
    title: String,
    broken: usize,
}

#[flow(input = Site, max_attempts = 3, base_delay = 5, timeout = 60)]
pub mod analyze_website {
    use super::*;

    #[step]
    async fn website(run: Site) -> Result<String> {
        Ok(format!("see {}", run.url))
    }

    #[step(depends_on = [website])]
    async fn sentiment(website: String) -> Result<i32> {
        Ok(if website.contains("good") { 1 } else { 0 })
    }

    #[step(depends_on = [website], timeout = 30, max_attempts = 5)]
    async fn links(website: String) -> Result<Vec<String>> {
        Ok(website.split(' ').map(str::to_owned).collect())
    }

    #[step(map, depends_on = [links])]
    async fn check_link(item: String, ctx: Context) -> Result<bool> {
        Ok(item.contains('.') && ctx.attempt() == 1)
    }

    #[step(depends_on = [sentiment, check_link])]
    async fn report(run: Site, sentiment: i32, check_link: Vec<bool>) -> Result<Report> {
        let broken = check_link.iter().filter(|works| !**works).count();
        Ok(Report { title: format!("{}: {sentiment}", run.url), broken })
    }
}

fn main() {
    let site = Site { url: "good.example".into() };
    let ran = block_on(run(analyze_website::Flow, site)).expect("it runs");
    let analyze_website::Output { report } = ran.output().expect("its output");
    assert_eq!((report.title.as_str(), report.broken), ("good.example: 1", 1));
}
