//! Random commands about jobs: every backend must answer and remember what memory does.
//!
//! A claim is a list, because its order is part of the contract.

mod command;
mod player;

use std::sync::Arc;

use super::Compared;
use super::blind::{Game, compare};
use super::random::Random;
use crate::subject::{Database, Subject};
use command::Command;
use player::Player;

/// Commands of a sequence.
const LENGTH: usize = 40;

/// Compares memory with a subject. Numbers `first`, `first + 1` and so on are the sequences' seeds.
///
/// # Errors
/// With how to see the first difference again.
pub async fn compare_jobs(
    subject: &Arc<dyn Subject>,
    first: u64,
    count: u64,
) -> Result<Compared, String> {
    compare::<JobGame>(subject, first, count).await
}

struct JobGame;

impl Game for JobGame {
    type Command = Command;
    type Player<'d> = Player<'d>;

    fn sequence(random: &mut Random) -> Vec<Command> {
        let commands = (0..LENGTH).map(|_| Command::draw(random));
        commands.chain([Command::Look, Command::Sweep, Command::Look]).collect()
    }

    fn player<'d>(database: &'d dyn Database, compared: &str) -> Player<'d> {
        // The core's details are what the facade of pgwf needs.
        Player::new(database, compared != "postgres")
    }
}
