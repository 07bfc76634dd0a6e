//! A new step between two others.

use pgflow_refactor_tests::place;

use crate::{FLOW, TESTS, project};

const BEFORE: &str = "\
    #[step(depends_on = [website])]
    pub async fn sentiment(";

const AFTER: &str = "\
    #[step(depends_on = [website])]
    pub async fn clean(website: Page) -> Result<String> {
        Ok(website.text)
    }

    #[step(depends_on = [clean])]
    pub async fn sentiment(";

#[test]
fn stops_the_step_after_it_until_it_takes_the_new_output() {
    let inserted = project("insert_a_step").edit(FLOW, BEFORE, AFTER);
    let parameter = "pub async fn sentiment(‹website›: Page) -> Result<Sentiment> {";
    inserted.check().stops_at(&[place(FLOW, parameter)]);

    let renamed = inserted.edit(FLOW, "sentiment(website: Page)", "sentiment(clean: Page)").edit(
        FLOW,
        "try_from(website.text.len())",
        "try_from(clean.text.len())",
    );
    let its_type = "pub async fn sentiment(clean: ‹Page›) -> Result<Sentiment> {";
    renamed.check().stops_at(&[place(FLOW, its_type)]);

    renamed
        .edit(FLOW, "sentiment(clean: Page)", "sentiment(clean: String)")
        .edit(FLOW, "try_from(clean.text.len())", "try_from(clean.len())")
        .edit(TESTS, "sentiment(page())", "sentiment(page().text)")
        .check()
        .compiles();
}
