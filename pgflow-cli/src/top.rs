//! `pgflow top`.

mod draw;
mod jobs;
mod keys;
mod state;

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use clap::Args;
use pgflow_runtime::Db;
use ratatui::crossterm::event::{self, Event};

use crate::database::{Reach, warn_of_unknown};
use crate::error::Error;
use crate::interrupt::patiently;
use keys::Wish;
use state::{Acting, Asked, Looking, State};

/// Between two looks at the database.
const EVERY: Duration = Duration::from_secs(1);
/// Between two looks at the keyboard.
const TICK: Duration = Duration::from_millis(50);
/// What a key is told that comes too early.
const BUSY: &str = "the database has not answered to the last key yet";

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
    if !std::io::stdout().is_terminal() {
        return Err(Error::Usage(
            "`top` draws on a terminal; `ls` prints what it shows".to_owned(),
        ));
    }
    warn_of_unknown(&db, &command.flow).await?;
    patiently();
    let mut state = State::new(&db, command.flow.clone(), command.reach.utc);
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
    let (mut looked, mut looking, mut acting) = (Instant::now(), None::<Looking>, None::<Acting>);
    let mut ended = std::pin::pin!(ended());
    loop {
        terminal.draw(|frame| draw::draw(frame, state)).map_err(Error::Terminal)?;
        // Keys are read also while a database keeps its answers to itself.
        tokio::select! {
            () = tokio::time::sleep(TICK) => {}
            () = &mut ended => return Ok(()),
            seen = answer(&mut looking) => {
                state.take(seen);
                looked = Instant::now();
            }
            done = answer(&mut acting) => {
                state.done(done);
                looking = Some(state.look(db));
            }
        }
        while event::poll(Duration::ZERO).map_err(Error::Terminal)? {
            let Event::Key(key) = event::read().map_err(Error::Terminal)? else { continue };
            match keys::wish(state, key) {
                Wish::Nothing => {}
                Wish::Quit => return Ok(()),
                Wish::Act(_) if acting.is_some() => BUSY.clone_into(&mut state.message),
                Wish::Act(act) => acting = Some(state::act(db, act)),
            }
        }
        if looking.is_none() && looked.elapsed() >= EVERY {
            looking = Some(state.look(db));
        }
    }
}

/// What the database says to what it was asked; nothing was asked after that.
async fn answer<T>(asked: &mut Option<Asked<T>>) -> T {
    let Some(answer) = asked else { return std::future::pending().await };
    let answer = answer.await;
    *asked = None;
    answer
}

/// Ready when what has started this program wants it to end, or its terminal is gone.
async fn ended() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let signals = (signal(SignalKind::terminate()), signal(SignalKind::hangup()));
        if let (Ok(mut end), Ok(mut hangup)) = signals {
            tokio::select! {
                _ = end.recv() => {}
                _ = hangup.recv() => {}
            }
            return;
        }
    }
    std::future::pending::<()>().await;
}
