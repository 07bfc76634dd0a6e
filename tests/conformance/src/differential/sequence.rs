//! Commands and what memory answers.

use super::command::Command;
use super::draw::{self, Flows};
use super::generate::Generator;
use super::play::{Names, Player, register};
use super::random::Random;
use super::reply::Reply;
use crate::subject::{Database, Subject};
use crate::subjects::InMemory;

/// Rounds at the end in which all is completed.
const ENDING: usize = 6;

pub(super) struct Sequence {
    pub(super) flow_seed: u64,
    pub(super) flows: Flows,
    pub(super) commands: Vec<Command>,
    replies: Vec<Reply>,
}

/// Where two backends differ.
#[derive(Debug)]
pub(super) struct Difference {
    pub(super) at: usize,
    pub(super) memory: Reply,
    pub(super) other: Reply,
}

impl Sequence {
    /// Memory plays while the commands are made up.
    pub(super) async fn draw(flow_seed: u64, seed: u64) -> Self {
        let flows = draw::flows(&mut Random::new(flow_seed));
        let mut sequence =
            Self { flow_seed, flows: flows.clone(), commands: Vec::new(), replies: Vec::new() };
        let mut generator = Generator::new(&flows, Random::new(!seed));
        let memory = InMemory.fresh().await;
        let names = register(&*memory, &flows).await;
        let player = Player::new(&*memory, &names);
        for _ in 0..generator.length() {
            let command = generator.next();
            sequence.step(&player, &mut generator, command).await;
        }
        for _ in 0..ENDING {
            for command in generator.ending() {
                sequence.step(&player, &mut generator, command).await;
            }
        }
        sequence.step(&player, &mut generator, Command::Look).await;
        sequence
    }

    async fn step(&mut self, player: &Player<'_>, generator: &mut Generator<'_>, command: Command) {
        let reply = player.play(&command).await;
        generator.learn(&command, &reply);
        self.commands.push(command);
        self.replies.push(reply);
    }

    /// The same flows with other commands, which memory answers anew.
    pub(super) async fn with(&self, commands: Vec<Command>) -> Self {
        let memory = InMemory.fresh().await;
        let names = register(&*memory, &self.flows).await;
        let player = Player::new(&*memory, &names);
        let mut replies = Vec::new();
        for command in &commands {
            replies.push(player.play(command).await);
        }
        Self { flow_seed: self.flow_seed, flows: self.flows.clone(), commands, replies }
    }

    pub(super) async fn differs_on(
        &self,
        database: &dyn Database,
        names: &Names,
    ) -> Option<Difference> {
        let player = Player::new(database, names);
        let mut difference = None;
        for (at, (command, memory)) in self.commands.iter().zip(&self.replies).enumerate() {
            let other = player.play(command).await;
            if other != *memory {
                difference = Some(Difference { at, memory: memory.clone(), other });
                break;
            }
        }
        player.end().await;
        difference
    }
}
