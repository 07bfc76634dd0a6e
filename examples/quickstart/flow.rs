//! The flow of the README. Its steps only wait, so that there is something to see.

use std::time::Duration;

use pgflow::prelude::*;

/// What a run starts with.
#[data]
pub(crate) struct Site {
    pub(crate) url: String,
}

/// What was found there.
#[data]
pub(crate) struct Page {
    text: String,
    links: Vec<String>,
}

/// Whether a link leads somewhere.
#[data]
pub(crate) struct LinkStatus {
    url: String,
    is_up: bool,
}

/// What a run ends with.
#[data]
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) url: String,
    pub(crate) sentiment: String,
    pub(crate) links: usize,
    pub(crate) broken: Vec<String>,
}

#[flow(input = Site, max_attempts = 3, base_delay = 1, timeout = "10s")]
pub(crate) mod analyze_website {
    use super::{Context, LinkStatus, Page, Report, Result, Site, pause};

    #[step]
    pub(crate) async fn website(run: Site) -> Result<Page> {
        pause(300).await;
        let links = (1..=24).map(|page| format!("{}/page/{page}", run.url)).collect();
        Ok(Page { text: "good, good, not bad".to_owned(), links })
    }

    #[step(depends_on = [website])]
    pub(crate) async fn sentiment(website: Page) -> Result<String> {
        pause(900).await;
        let good = website.text.matches("good").count();
        Ok(if good > 1 { "friendly" } else { "so so" }.to_owned())
    }

    #[step(depends_on = [website])]
    pub(crate) async fn links(website: Page) -> Result<Vec<String>> {
        pause(300).await;
        Ok(website.links)
    }

    // A worker that dies holds its tasks until their time is over: short here, to see it happen.
    #[step(map, depends_on = [links], timeout = "2s")]
    pub(crate) async fn check_link(item: String, ctx: Context) -> Result<LinkStatus> {
        pause(400).await;
        if item.ends_with("/7") && ctx.attempt() == 1 {
            return Err("no answer, this time".into());
        }
        Ok(LinkStatus { is_up: !item.ends_with("/13"), url: item })
    }

    #[step(depends_on = [sentiment, check_link])]
    pub(crate) async fn report(
        run: Site,
        sentiment: String,
        check_link: Vec<LinkStatus>,
    ) -> Result<Report> {
        let links = check_link.len();
        let broken = check_link.into_iter().filter(|link| !link.is_up).map(|link| link.url);
        Ok(Report { url: run.url, sentiment, links, broken: broken.collect() })
    }
}

async fn pause(milliseconds: u64) {
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
}
