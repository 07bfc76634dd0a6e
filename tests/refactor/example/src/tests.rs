//! Steps are functions, so tests call them.

use pgflow::prelude::*;

use crate::flow::analyze_website;
use crate::types::{Page, Site};

fn site() -> Site {
    Site { url: "here".into() }
}

fn page() -> Page {
    Page { text: "see here".into() }
}

#[test]
fn a_report_counts_broken_links() -> Result<()> {
    pgflow::testing::block_on(async {
        let links: Vec<String> = analyze_website::links(page()).await?;
        assert_eq!(links.len(), 2);
        let sentiment = analyze_website::sentiment(page()).await?;
        let report = analyze_website::report(site(), sentiment, vec![]).await?;
        assert_eq!(report.broken, 0);
        Ok(())
    })
}
