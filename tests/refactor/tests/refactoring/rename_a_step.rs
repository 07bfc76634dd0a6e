//! The name of a step, changed where it is defined.

use pgflow_refactor_tests::place;

use crate::{CLIENT, FLOW, TESTS, project};

#[test]
fn stops_what_depends_on_it_and_what_calls_it() {
    let renamed =
        project("rename_a_step").edit(FLOW, "pub async fn sentiment(", "pub async fn mood(");
    renamed.check().stops_at(&[
        place(FLOW, "#[step(depends_on = [‹sentiment›, check_link])]"),
        place(CLIENT, "let sentiment = run.step::<analyze_website::‹sentiment›>()?;"),
        place(TESTS, "let sentiment = analyze_website::‹sentiment›(page()).await?;"),
    ]);
    renamed
        .edit(FLOW, "[sentiment, check_link]", "[mood, check_link]")
        .edit(FLOW, "sentiment: Sentiment,", "mood: Sentiment,")
        .edit(FLOW, "sentiment.score)", "mood.score)")
        .edit(CLIENT, "analyze_website::sentiment>", "analyze_website::mood>")
        .edit(TESTS, "analyze_website::sentiment(", "analyze_website::mood(")
        .check()
        .compiles();
}

#[test]
fn stops_what_reads_the_output_of_the_flow() {
    let renamed =
        project("rename_a_leaf").edit(FLOW, "pub async fn report(", "pub async fn summary(");
    renamed.check().stops_at(&[
        place(CLIENT, "let report = output.‹report›;"),
        place(TESTS, "let report = analyze_website::‹report›(site(), sentiment, vec![]).await?;"),
    ]);
    renamed
        .edit(CLIENT, "output.report", "output.summary")
        .edit(TESTS, "analyze_website::report(", "analyze_website::summary(")
        .check()
        .compiles();
}
