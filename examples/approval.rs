//! A step that waits up to seven days for an approval: `cargo run --example approval -- sqlite:approval.db`.
//!
//! It prints how to answer with the command line, and waits for that. With `--fast`, and in memory, where nobody else could, Ann
//! answers by herself; `--fast` also shows what comes of it when nobody does, for seven days, on virtual time.

use std::time::Duration;

use pgflow::prelude::*;
use pgflow::{Run, testing::Sim, wait::Signalled};
use tokio::time::sleep;

/// What somebody wrote.
#[data]
#[derive(Clone)]
struct Draft {
    title: String,
    owner: String,
}

/// What somebody says to it.
#[data]
struct Approval {
    by: String,
    is_fine: bool,
}

#[flow(input = Draft)]
mod article {
    use super::{Approval, Context, Draft, Duration, Hook, Result, Waiting};

    #[step(wait_timeout = "7d", max_attempts = 1, when_exhausted = skip)]
    pub(crate) async fn approval(run: Draft, hook: Hook<Approval>) -> Result<Waiting<Approval>> {
        println!("to {}: is {:?} fine? {}", run.owner, run.title, hook.token());
        Ok(hook.wait())
    }

    /// Time to change one's mind.
    #[step(depends_on = [approval])]
    pub(crate) async fn cool_down(ctx: Context) -> Result<Waiting<()>> {
        Ok(ctx.sleep(Duration::from_secs(1)))
    }

    #[step(depends_on = [approval, cool_down])]
    pub(crate) async fn publish(run: Draft, approval: Option<Approval>) -> Result<String> {
        Ok(match approval {
            Some(Approval { by, is_fine: true }) => format!("{:?}, approved by {by}", run.title),
            Some(Approval { by, .. }) => format!("{by} does not want {:?}", run.title),
            None => format!("nobody looked at {:?} for seven days", run.title),
        })
    }
}

#[tokio::main]
async fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let mut url = "memory:".to_owned();
    let mut is_fast = false;
    for argument in std::env::args().skip(1) {
        if argument == "--fast" { is_fast = true } else { url = argument }
    }
    let db = Db::connect(&url).await?;
    db.migrate().await?;
    db.register(article::Flow).await?;
    let worker = Worker::new(&db).flow(article::Flow).spawn();

    let draft = Draft { title: "Waits".to_owned(), owner: "ann@example.org".to_owned() };
    let run = db.start(article::Flow, draft.clone()).await?;
    if is_fast || url == "memory:" {
        answer(&db, &run).await?;
    } else {
        println!(
            "PGFLOW_DATABASE_URL={url} pgflow signal TOKEN '{{\"by\": \"you\", \"is_fine\": true}}'"
        );
    }
    println!("{}", run.output().await?.publish);
    worker.stop();
    worker.await?;
    if is_fast {
        println!("{}", tokio::task::spawn_blocking(|| seven_days_later(draft)).await??);
    }
    Ok(())
}

/// Nobody reads their mail: what comes of that, in no time.
fn seven_days_later(draft: Draft) -> std::result::Result<String, pgflow::testing::SimError> {
    let mut sim = Sim::new().flow(article::Flow);
    let run = sim.start(article::Flow, draft)?;
    sim.run_ready();
    sim.advance(Duration::from_hours(7 * 24 - 1));
    sim.run_ready();
    assert!(sim.output(&run).is_err(), "there is an hour left");
    sim.run_until_idle();
    Ok(sim.output(&run)?.publish)
}

/// Ann reads her mail.
async fn answer(db: &Db, run: &Run<article::Flow>) -> std::result::Result<(), pgflow::ClientError> {
    let approval = Approval { by: "Ann".to_owned(), is_fine: true };
    while run.hooks().await?.is_empty() {
        sleep(Duration::from_millis(20)).await;
    }
    let said = db.signal_step::<article::approval>(run.id(), &approval).await?;
    assert!(matches!(said, Signalled::Delivered(_)), "{said:?}");
    Ok(())
}
