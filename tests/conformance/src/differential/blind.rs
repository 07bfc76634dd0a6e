//! Sequences that are drawn blindly from their seeds: they name what is there by number, whether there is anything or not.
//!
//! Answers are compared one by one. A sequence that differs is made shorter while it still differs, and printed with its seed.

use std::fmt::Debug;
use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use super::Compared;
use super::random::Random;
use crate::subject::{Database, Subject};
use crate::subjects::InMemory;

/// A kind of commands.
pub(super) trait Game {
    type Command: Clone + Debug;
    type Player<'d>: Plays<Self::Command>;

    fn sequence(random: &mut Random) -> Vec<Self::Command>;

    /// Somebody who plays on this database what is compared with this backend.
    fn player<'d>(database: &'d dyn Database, compared: &str) -> Self::Player<'d>;
}

/// Somebody who plays commands on a database, and says what it answers in words that do not depend on the database.
pub(super) trait Plays<C> {
    fn play(&mut self, command: &C) -> impl Future<Output = String>;

    /// Ends all there is, or the sweeps of the next sequence would meet it.
    fn end(&self) -> impl Future<Output = ()>;
}

/// Where two backends differ: after which command, and what they said.
type Difference = (usize, String, String);

/// Compares memory with a subject. Numbers `first`, `first + 1` and so on are the sequences' seeds.
pub(super) async fn compare<G: Game>(
    subject: &Arc<dyn Subject>,
    first: u64,
    count: u64,
) -> Result<Compared, String> {
    let began = Instant::now();
    let database = subject.fresh().await;
    let mut compared = Compared::default();
    for seed in (0..count).map(|n| first.wrapping_add(n)) {
        let commands = G::sequence(&mut Random::new(seed));
        if differs::<G>(&*database, &commands).await.is_some() {
            return Err(report::<G>(subject.name(), &*database, seed, commands).await);
        }
        compared.sequences += 1;
        compared.commands += commands.len() as u64;
    }
    let violations = super::violations(&*database).await;
    if !violations.is_empty() {
        return Err(format!("{} violates its own invariants: {violations:#?}", subject.name()));
    }
    Ok(Compared { took: began.elapsed(), ..compared })
}

async fn differs<G: Game>(database: &dyn Database, commands: &[G::Command]) -> Option<Difference> {
    let memory = InMemory.fresh().await;
    let name = database.backend().name();
    let mut expected = G::player(&*memory, name);
    let mut found = G::player(database, name);
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
async fn report<G: Game>(
    name: &str,
    database: &dyn Database,
    seed: u64,
    commands: Vec<G::Command>,
) -> String {
    let mut best = commands;
    let mut at = best.len();
    while at > 0 {
        at -= 1;
        let mut shorter = best.clone();
        shorter.remove(at);
        if differs::<G>(database, &shorter).await.is_some() {
            best = shorter;
        }
    }
    let again = format!("PGFLOW_TEST_SEED={seed} PGFLOW_TEST_SEQUENCES=1 shows it again");
    let lines: Vec<_> = best.iter().map(|command| format!("  {command:?}")).collect();
    match differs::<G>(database, &best).await {
        Some((at, memory, other)) => format!(
            "{name} differs from memory; {again}\n{}\nafter number {at}:\nmemory: {memory}\nother:  {other}",
            lines.join("\n")
        ),
        None => {
            format!("{name} differs from memory once in a while; {again}\n{}", lines.join("\n"))
        }
    }
}
