//! The flow.

use pgflow::prelude::*;

use crate::types::{LinkStatus, Page, Report, Sentiment, Site};

#[flow(input = Site, max_attempts = 3)]
pub mod analyze_website {
    use super::*;

    #[step]
    pub async fn website(run: Site) -> Result<Page> {
        Ok(Page { text: format!("see {}", run.url) })
    }

    #[step(depends_on = [website])]
    pub async fn sentiment(website: Page) -> Result<Sentiment> {
        Ok(Sentiment { score: i32::try_from(website.text.len()).unwrap_or(i32::MAX) })
    }

    #[step(depends_on = [website])]
    pub async fn links(website: Page) -> Result<Vec<String>> {
        Ok(website.text.split(' ').map(str::to_owned).collect())
    }

    #[step(map, depends_on = [links])]
    pub async fn check_link(item: String) -> Result<LinkStatus> {
        Ok(LinkStatus { broken: item.is_empty(), url: item })
    }

    #[step(depends_on = [sentiment, check_link])]
    pub async fn report(
        run: Site,
        sentiment: Sentiment,
        check_link: Vec<LinkStatus>,
    ) -> Result<Report> {
        let broken = check_link.iter().filter(|link| link.broken).count();
        Ok(Report { title: format!("{}: {}", run.url, sentiment.score), broken })
    }
}
