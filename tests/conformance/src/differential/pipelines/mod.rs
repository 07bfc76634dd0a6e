//! Random pushes, claims and settles of pipelines: every backend must answer and remember what memory does.

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
const LENGTH: usize = 50;

/// Compares memory with a subject. Numbers `first`, `first + 1` and so on are the sequences' seeds.
///
/// # Errors
/// With how to see the first difference again.
pub async fn compare_pipelines(
    subject: &Arc<dyn Subject>,
    first: u64,
    count: u64,
) -> Result<Compared, String> {
    compare::<PipelineGame>(subject, first, count).await
}

struct PipelineGame;

impl Game for PipelineGame {
    type Command = Command;
    type Player<'d> = Player<'d>;

    fn sequence(random: &mut Random) -> Vec<Command> {
        let commands = (0..LENGTH).map(|_| Command::draw(random));
        commands.chain([Command::Look, Command::Sweep, Command::Look]).collect()
    }

    fn player<'d>(database: &'d dyn Database, _compared: &str) -> Player<'d> {
        Player::new(database)
    }
}
