//! A step that is gone.

use pgflow_refactor_tests::place;

use crate::{FLOW, TESTS, project};

const LINKS: &str = "\
    #[step(depends_on = [website])]
    pub async fn links(website: Page) -> Result<Vec<String>> {
        Ok(website.text.split(' ').map(str::to_owned).collect())
    }

";

#[test]
fn stops_what_depends_on_it_and_what_calls_it() {
    let removed = project("remove_a_step").edit(FLOW, LINKS, "");
    removed.check().stops_at(&[
        place(FLOW, "#[step(map, depends_on = [‹links›])]"),
        place(TESTS, "let links: Vec<String> = analyze_website::‹links›(page()).await?;"),
    ]);
    removed
        .edit(FLOW, "#[step(map, depends_on = [links])]", "#[step(depends_on = [website])]")
        .edit(FLOW, "check_link(item: String)", "check_link(website: Page)")
        .edit(FLOW, "broken: item.is_empty(), url: item }", "broken: false, url: website.text }")
        .edit(FLOW, "check_link: Vec<LinkStatus>,", "check_link: LinkStatus,")
        .edit(
            FLOW,
            "check_link.iter().filter(|link| link.broken).count()",
            "usize::from(check_link.broken)",
        )
        .edit(
            TESTS,
            "let links: Vec<String> = analyze_website::links(",
            "let link = analyze_website::check_link(",
        )
        .edit(TESTS, "assert_eq!(links.len(), 2);", "assert!(!link.broken);")
        .edit(TESTS, "sentiment, vec![])", "sentiment, link)")
        .check()
        .compiles();
}
