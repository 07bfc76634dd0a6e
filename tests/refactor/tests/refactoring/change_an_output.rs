//! A step that outputs another type.

use pgflow_refactor_tests::place;

use crate::{FLOW, TESTS, project};

#[test]
fn stops_its_consumers() {
    let changed = project("change_an_output")
        .edit(FLOW, "pub async fn links(website: Page) -> Result<Vec<String>> {", LINKS)
        .edit(
            FLOW,
            "split(' ').map(str::to_owned)",
            "split(' ').map(|url| Site { url: url.into() })",
        );
    changed.check().stops_at(&[
        place(FLOW, "pub async fn check_link(item: ‹String›) -> Result<LinkStatus> {"),
        place(TESTS, "let links: Vec<String> = ‹analyze_website::links(page()).await?›;"),
    ]);
    changed
        .edit(FLOW, "check_link(item: String)", "check_link(item: Site)")
        .edit(
            FLOW,
            "broken: item.is_empty(), url: item }",
            "broken: item.url.is_empty(), url: item.url }",
        )
        .edit(TESTS, "let links: Vec<String>", "let links: Vec<crate::Site>")
        .check()
        .compiles();
}

const LINKS: &str = "pub async fn links(website: Page) -> Result<Vec<Site>> {";
