//! A step that the run can do without.

use pgflow_refactor_tests::place;

use crate::{FLOW, TESTS, project};

#[test]
fn stops_the_consumers_that_count_on_it() {
    let skippable = project("make_a_step_skippable").edit(
        FLOW,
        "#[step(depends_on = [website])]\n    pub async fn sentiment(",
        "#[step(depends_on = [website], when_exhausted = skip)]\n    pub async fn sentiment(",
    );
    skippable.check().stops_at(&[place(FLOW, "sentiment: ‹Sentiment›,")]);
    skippable
        .edit(FLOW, "sentiment: Sentiment,", "sentiment: Option<Sentiment>,")
        .edit(TESTS, "site(), sentiment,", "site(), Some(sentiment),")
        .edit(FLOW, "sentiment.score)", "sentiment.map_or(0, |it| it.score))")
        .check()
        .compiles();
}
