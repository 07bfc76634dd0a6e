//! A step that ran once runs per element.

use pgflow_refactor_tests::place;

use crate::{CLIENT, FLOW, TESTS, project};

#[test]
fn stops_the_source_that_is_no_sequence_and_the_consumers_that_take_one_value() {
    let mapped = project("turn_a_step_into_a_map")
        .edit(FLOW, "#[step]", "#[step(map)]")
        .edit(FLOW, "website(run: Site)", "website(item: Site)")
        .edit(FLOW, "\"see {}\", run.url", "\"see {}\", item.url");
    mapped.check().stops_at(&[
        place(FLOW, "#[step(‹map›)]"),
        place(FLOW, "pub async fn sentiment(website: ‹Page›) -> Result<Sentiment> {"),
        place(FLOW, "pub async fn links(website: ‹Page›) -> Result<Vec<String>> {"),
    ]);
    mapped
        .edit(FLOW, "input = Site", "input = Vec<Site>")
        .edit(FLOW, "sentiment(website: Page)", "sentiment(website: Vec<Page>)")
        .edit(FLOW, "try_from(website.text.len())", "try_from(website.len())")
        .edit(FLOW, "links(website: Page)", "links(website: Vec<Page>)")
        .edit(
            FLOW,
            "website.text.split(' ').map(str::to_owned)",
            "website.into_iter().map(|it| it.text)",
        )
        .edit(FLOW, "        run: Site,", "        run: Vec<Site>,")
        .edit(FLOW, "run.url, sentiment", "run.len(), sentiment")
        .edit(CLIENT, "start(&site)", "start(&vec![site])")
        .edit(TESTS, "links(page())", "links(vec![page(), page()])")
        .edit(TESTS, "sentiment(page())", "sentiment(vec![page()])")
        .edit(TESTS, "report(site(), ", "report(vec![site()], ")
        .check()
        .compiles();
}
