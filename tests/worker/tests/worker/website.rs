//! The flow of the README, from its start to its output.

use pgflow::prelude::*;
use pgflow::{
    RunStatus,
    client::{Happened, StepStatus},
};
use pgflow_worker_tests::{Fresh, Outcome, everywhere};

#[data]
struct Site {
    url: String,
}

#[data]
struct Page {
    text: String,
    links: Vec<String>,
}

#[flow(input = Site, max_attempts = 3, base_delay = 1, timeout = 60)]
mod analyze_website {
    use super::*;

    #[step]
    pub(crate) async fn website(run: Site) -> Result<Page> {
        let links = (0..20).map(|page| format!("{}/{page}", run.url)).collect();
        Ok(Page { text: "good, good, not bad".into(), links })
    }

    #[step(depends_on = [website])]
    pub(crate) async fn sentiment(website: Page) -> Result<usize> {
        Ok(website.text.matches("good").count())
    }

    #[step(depends_on = [website])]
    pub(crate) async fn links(website: Page) -> Result<Vec<String>> {
        Ok(website.links)
    }

    #[step(map, depends_on = [links])]
    pub(crate) async fn check_link(run: Site, item: String, ctx: Context) -> Result<String> {
        assert!(item.starts_with(&run.url), "a map step can take the run's input as well");
        Ok(format!("{item} {}", ctx.index()))
    }

    #[step(depends_on = [sentiment, check_link])]
    pub(crate) async fn report(
        run: Site,
        sentiment: usize,
        check_link: Vec<String>,
    ) -> Result<String> {
        Ok(format!("{}: {sentiment}, {} links", run.url, check_link.len()))
    }
}

everywhere!(runs_to_its_output, tells_what_happens_without_gaps);

async fn runs_to_its_output(fresh: Fresh) -> Outcome {
    let (worker, db) = (fresh.work(analyze_website::Flow).await?, &fresh.db);
    let site = Site { url: "example.org".into() };
    let run = db.start(analyze_website::Flow, &site).await?;
    assert!(run.is_new());
    assert_eq!(run.output().await?.report, "example.org: 2, 20 links");
    assert_eq!(run.wait().await?, RunStatus::Completed);
    let checked = run.step_output::<analyze_website::check_link>().await?.expect("it completed");
    assert_eq!((checked.len(), checked[19].as_str()), (20, "example.org/19 19"));
    let progress = run.progress().await?;
    assert!(progress.iter().all(|step| step.status == StepStatus::Completed));
    assert_eq!(progress.iter().map(|step| step.done).sum::<u32>(), 24);
    let report = worker.stop().await?;
    assert_eq!((report.settled, report.lost), (24, 0), "{report}");
    Ok(())
}

async fn tells_what_happens_without_gaps(fresh: Fresh) -> Outcome {
    let db = &fresh.db;
    db.register(analyze_website::Flow).await?;
    let run = db.start(analyze_website::Flow, &Site { url: "a".into() }).await?;
    let mut events = run.events();
    let first = events.next().await.expect("it began")?;
    assert!(matches!(first.what, Happened::RunStarted { .. }));
    let worker = fresh.work(analyze_website::Flow).await?;
    let mut seen = vec![first];
    while let Some(event) = events.next().await {
        seen.push(event?);
    }
    assert!(seen.iter().map(|event| event.seq).eq(1..=seen.len() as u64), "dense");
    let last = &seen[seen.len() - 1].what;
    assert!(matches!(last, Happened::RunCompleted { .. }), "{last}");
    let mut rest = run.events_after(3);
    assert_eq!(rest.next().await.expect("there are more")?, seen[3]);
    let mut none = run.events_after(seen.len() as u64);
    assert!(none.next().await.is_none(), "a reader that has seen it all does not wait");
    worker.stop().await?;
    Ok(())
}
