//! The flow of the front page, checked, described and run.

use pgflow::prelude::*;
use pgflow::testing::{self, StepStatus};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Site {
    url: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Page {
    text: String,
    links: Vec<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Sentiment {
    score: i32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct LinkStatus {
    url: String,
    is_up: bool,
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, PartialEq)]
struct Report {
    url: String,
    score: i32,
    broken: Vec<String>,
}

#[flow(input = Site, max_attempts = 3, base_delay = 5, timeout = 60)]
mod analyze_website {
    use super::*;

    #[step]
    pub(super) async fn website(run: Site) -> Result<Page> {
        let links = ["a", "b"].map(|path| format!("{}/{path}", run.url)).to_vec();
        Ok(Page { text: "good good bad".to_owned(), links })
    }

    #[step(depends_on = [website])]
    pub(super) async fn sentiment(website: Page) -> Result<Sentiment> {
        let count = |word| i32::try_from(website.text.matches(word).count());
        Ok(Sentiment { score: count("good")? - count("bad")? })
    }

    #[step(depends_on = [website], timeout = 30, max_attempts = 5)]
    pub(super) async fn links(website: Page) -> Result<Vec<String>> {
        Ok(website.links)
    }

    #[step(map, depends_on = [links])]
    pub(super) async fn check_link(item: String, ctx: Context) -> Result<LinkStatus> {
        if ctx.attempt() == 1 {
            return Err("no answer".into());
        }
        Ok(LinkStatus { is_up: item.ends_with('a'), url: item })
    }

    #[step(depends_on = [sentiment, check_link])]
    pub(super) async fn report(
        run: Site,
        sentiment: Sentiment,
        check_link: Vec<LinkStatus>,
    ) -> Result<Report> {
        let broken = check_link.into_iter().filter(|link| !link.is_up).map(|link| link.url);
        Ok(Report { url: run.url, score: sentiment.score, broken: broken.collect() })
    }
}

fn site() -> Site {
    Site { url: "example.org".to_owned() }
}

#[test]
fn runs_from_input_to_output() -> Result<()> {
    let run = testing::block_on(testing::run(analyze_website::Flow, site()))?;
    let report = run.output()?.report;
    let broken = vec!["example.org/b".to_owned()];
    assert_eq!(report, Report { url: "example.org".to_owned(), score: 1, broken });
    assert_eq!(
        run.status::<analyze_website::check_link>(),
        StepStatus::Completed { attempts: 4 },
        "each of two tasks fails once"
    );
    Ok(())
}

#[test]
fn a_step_is_a_function() -> Result<()> {
    let page = testing::block_on(analyze_website::website(site()))?;
    assert_eq!(page.links.len(), 2);
    Ok(())
}

#[test]
fn the_graph_can_be_drawn() {
    let expected = "\
flowchart TD
    run([\"run: Site\"])
    website[\"website: Page\"]
    sentiment[\"sentiment: Sentiment\"]
    links[\"links: Vec#lt;String#gt;\"]
    check_link[[\"check_link: Vec#lt;LinkStatus#gt;<br/>one task per element\"]]
    report[\"report: Report\"]
    run --> website
    website --> sentiment
    website --> links
    links --> check_link
    sentiment --> report
    check_link --> report
";
    let drawn = analyze_website::Flow::shape().to_mermaid();
    assert!(drawn.starts_with(expected), "{drawn}");
}

#[test]
fn inputs_and_outputs_are_described() {
    let schemas = analyze_website::Flow::schemas().expect("schemas");
    let by_slug = |slug| schemas.steps.iter().find(|step| step.slug == slug).expect("a step");
    let report = by_slug("report");
    let mut keys: Vec<_> =
        report.input.as_value()["properties"].as_object().expect("an object").keys().collect();
    keys.sort();
    assert_eq!(keys, ["check_link", "run", "sentiment"]);
    assert_eq!(by_slug("check_link").input.as_value()["type"], "string");
    assert_eq!(by_slug("check_link").output.as_value()["type"], "array");
}
