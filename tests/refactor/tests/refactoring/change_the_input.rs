//! A flow that starts with another type.

use pgflow_refactor_tests::place;

use crate::{CLIENT, FLOW, TESTS, project};

#[test]
fn stops_the_steps_that_take_it_and_who_starts_a_run() {
    let changed =
        project("change_the_input").edit(FLOW, "#[flow(input = Site,", "#[flow(input = Page,");
    changed.check().stops_at(&[
        place(FLOW, "pub async fn website(run: ‹Site›) -> Result<Page> {"),
        place(FLOW, "run: ‹Site›,"),
        place(CLIENT, "analyze_website::Flow::start(‹&site›)"),
    ]);
    changed
        .edit(FLOW, "website(run: Site)", "website(run: Page)")
        .edit(FLOW, "\"see {}\", run.url", "\"see {}\", run.text")
        .edit(FLOW, "        run: Site,", "        run: Page,")
        .edit(FLOW, "\"{}: {}\", run.url", "\"{}: {}\", run.text")
        .edit(CLIENT, "let site = Site { url: ", "let site = Page { text: ")
        .edit(CLIENT, "{Report, Site}", "{Page, Report}")
        .edit(TESTS, "report(site(), ", "report(page(), ")
        .check()
        .compiles();
}
