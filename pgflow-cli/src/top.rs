//! `pgflow top`.

mod draw;
mod jobs;
mod keys;
mod state;

use std::time::{Duration, Instant};

use clap::Args;
use pgflow_runtime::Db;
use ratatui::crossterm::event::{self, Event};

use crate::database::Reach;
use crate::error::Error;
use keys::Wish;
use state::{Looking, State};

/// Between two looks at the database.
const EVERY: Duration = Duration::from_secs(1);
/// Between two looks at the keyboard.
const TICK: Duration = Duration::from_millis(50);

/// What to watch.
#[derive(Args)]
#[command(after_help = "\
Example:
  pgflow top --flow order

Keys: Tab changes the list, arrows choose, Enter opens a run as a tree, or a job, arrows scroll it, Esc goes
back, r retries, c cancels, q quits.")]
pub(crate) struct Top {
    #[command(flatten)]
    reach: Reach,

    /// Only runs of this flow; may be repeated.
    #[arg(long, value_name = "FLOW")]
    flow: Vec<String>,
}

pub(crate) async fn run(command: &Top) -> Result<bool, Error> {
    if command.reach.json {
        return Err(Error::Usage("`top` is for people; `ls --json` is for machines".to_owned()));
    }
    let db = command.reach.open().await?;
    let mut state = State::new(&db, command.flow.clone());
    let first = state.look(&db).await?;
    state.take(Ok(first));
    // Puts the terminal back however this ends.
    let mut terminal = ratatui::try_init().map_err(Error::Terminal)?;
    let ended = watch(&db, &mut state, &mut terminal).await;
    ratatui::restore();
    ended.map(|()| true)
}

async fn watch(
    db: &Db,
    state: &mut State,
    terminal: &mut ratatui::DefaultTerminal,
) -> Result<(), Error> {
    let (mut looked, mut looking) = (Instant::now(), None::<Looking>);
    loop {
        terminal.draw(|frame| draw::draw(frame, state)).map_err(Error::Terminal)?;
        // Keys are read also while a database keeps its answer to itself.
        match &mut looking {
            Some(look) => {
                if let Ok(seen) = tokio::time::timeout(TICK, look).await {
                    state.take(seen);
                    (looked, looking) = (Instant::now(), None);
                }
            }
            None => tokio::time::sleep(TICK).await,
        }
        while event::poll(Duration::ZERO).map_err(Error::Terminal)? {
            let Event::Key(key) = event::read().map_err(Error::Terminal)? else { continue };
            match keys::wish(state, key) {
                Wish::Nothing => {}
                Wish::Quit => return Ok(()),
                wish => {
                    state.fulfil(db, wish).await;
                    looking = Some(state.look(db));
                }
            }
        }
        if looking.is_none() && looked.elapsed() >= EVERY {
            looking = Some(state.look(db));
        }
    }
}
