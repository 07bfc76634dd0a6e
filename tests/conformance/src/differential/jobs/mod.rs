//! Random commands about jobs: every backend must answer and remember what memory does.
//!
//! A sequence is drawn blindly from its seed: it names jobs and their claims by number, whether there are any or not. Answers are
//! compared one by one; a claim is a list, because its order is part of the contract. A sequence that differs is made shorter while
//! it still differs, and printed with its seed.

mod command;
mod player;

use std::sync::Arc;
use std::time::Instant;

use super::Compared;
use super::random::Random;
use crate::subject::{Database, Subject};
use crate::subjects::InMemory;
use command::Command;
use player::Player;

/// Commands of a sequence.
const LENGTH: usize = 40;

/// Where two backends differ: after which command, and what they said.
type Difference = (usize, String, String);

/// Compares memory with a subject. Numbers `first`, `first + 1` and so on are the sequences' seeds.
///
/// # Errors
/// With how to see the first difference again.
pub async fn compare_jobs(
    subject: &Arc<dyn Subject>,
    first: u64,
    count: u64,
) -> Result<Compared, String> {
    let began = Instant::now();
    let database = subject.fresh().await;
    let mut compared = Compared::default();
    for seed in (0..count).map(|n| first.wrapping_add(n)) {
        let mut random = Random::new(seed);
        let commands = sequence(&mut random);
        if differs(&*database, &commands).await.is_some() {
            return Err(report(subject.name(), &*database, seed, commands).await);
        }
        compared.sequences += 1;
        compared.commands += commands.len() as u64;
    }
    let violations = database.check().await;
    if !violations.is_empty() {
        return Err(format!("{} violates its own invariants: {violations:#?}", subject.name()));
    }
    Ok(Compared { took: began.elapsed(), ..compared })
}

fn sequence(random: &mut Random) -> Vec<Command> {
    let commands = (0..LENGTH).map(|_| Command::draw(random));
    commands.chain([Command::Look, Command::Sweep, Command::Look]).collect()
}

async fn differs(database: &dyn Database, commands: &[Command]) -> Option<Difference> {
    let memory = InMemory.fresh().await;
    // The core's details are what the facade of pgwf needs.
    let with_details = database.backend().name() != "postgres";
    let mut expected = Player::new(&*memory, with_details);
    let mut found = Player::new(database, with_details);
    let mut difference = None;
    for (at, command) in commands.iter().enumerate() {
        let (one, other) = (expected.play(command).await, found.play(command).await);
        if one != other {
            difference = Some((at, one, other));
            break;
        }
    }
    found.end().await;
    difference
}

/// Drops commands one by one, as long as something differs.
async fn report(name: &str, database: &dyn Database, seed: u64, commands: Vec<Command>) -> String {
    let mut best = commands;
    let mut at = best.len();
    while at > 0 {
        at -= 1;
        let mut shorter = best.clone();
        shorter.remove(at);
        if differs(database, &shorter).await.is_some() {
            best = shorter;
        }
    }
    let again = format!("PGFLOW_TEST_SEED={seed} PGFLOW_TEST_SEQUENCES=1 shows it again");
    let lines: Vec<_> = best.iter().map(|command| format!("  {command:?}")).collect();
    match differs(database, &best).await {
        Some((at, memory, other)) => format!(
            "{name} differs from memory; {again}\n{}\nafter number {at}:\nmemory: {memory}\nother:  {other}",
            lines.join("\n")
        ),
        None => {
            format!("{name} differs from memory once in a while; {again}\n{}", lines.join("\n"))
        }
    }
}
