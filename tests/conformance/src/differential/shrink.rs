//! Makes a sequence that differs short, and prints it.

use std::fmt::Write;

use pgflow_model::{FlowShape, StepKind, StepShape};

use super::PER_FLOW;
use super::play::register;
use super::sequence::{Difference, Sequence};
use crate::subject::Database;

/// Tries; each costs a flow.
const TRIES: usize = 400;

pub(super) async fn report(
    name: &str,
    database: &dyn Database,
    sequence: &Sequence,
    difference: &Difference,
) -> String {
    let again = format!("PGFLOW_TEST_SEED={} PGFLOW_TEST_SEQUENCES={PER_FLOW}", sequence.flow_seed);
    let mut text = format!("{name} differs from memory; {again} shows it again\n");
    if let Some((short, difference)) = shrink(database, sequence).await {
        describe(&mut text, &short, &difference);
    } else {
        text += "(only after other sequences on the same flow)\n";
        describe(&mut text, sequence, difference);
    }
    text
}

/// Drops commands, many at first, then one by one, as long as something differs.
async fn shrink(database: &dyn Database, sequence: &Sequence) -> Option<(Sequence, Difference)> {
    let mut best = (sequence.with(sequence.commands.clone()).await, None);
    best.1 = Some(differs(database, &best.0).await?);
    let (mut size, mut tries) = (best.0.commands.len() / 2, 0);
    while size > 0 && tries < TRIES {
        let mut at = 0;
        while at < best.0.commands.len() && tries < TRIES {
            tries += 1;
            let mut commands = best.0.commands.clone();
            commands.drain(at..(at + size).min(commands.len()));
            let shorter = best.0.with(commands).await;
            match differs(database, &shorter).await {
                Some(difference) => best = (shorter, Some(difference)),
                None => at += size,
            }
        }
        size /= 2;
    }
    let (mut short, difference) = best;
    let difference = difference?;
    short.commands.truncate(difference.at + 1);
    Some((short, difference))
}

async fn differs(database: &dyn Database, sequence: &Sequence) -> Option<Difference> {
    let names = register(database, &sequence.flows).await;
    sequence.differs_on(database, &names).await
}

fn describe(text: &mut String, sequence: &Sequence, difference: &Difference) {
    for (at, flow) in sequence.flows.iter().enumerate() {
        let _ = writeln!(text, "flow {at}({})", options(flow));
        for step in &flow.steps {
            let _ = writeln!(text, "    .{}", describe_step(step));
        }
    }
    for (at, command) in sequence.commands.iter().enumerate() {
        let mark = if at == difference.at { "here:" } else { "" };
        let _ = writeln!(text, "{mark:>5} {command};");
    }
    let _ = writeln!(text, "memory: {:#?}\nother: {:#?}", difference.memory, difference.other);
}

fn options(flow: &FlowShape) -> String {
    flow.options
        .set()
        .map(|(name, value)| format!("{name} = {value}"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn describe_step(step: &StepShape) -> String {
    let kind = if step.kind == StepKind::Map { "map" } else { "single" };
    let mut text = format!("{kind}(\"{}\")", step.slug);
    for dep in &step.depends_on {
        let _ = write!(text, ".after(\"{dep}\")");
    }
    for (name, value) in step.options.set() {
        let _ = write!(text, ".{name}({value})");
    }
    for (name, pattern) in [("only_if", &step.only_if), ("unless", &step.unless)] {
        if let Some(pattern) = pattern {
            let _ = write!(text, ".{name}({pattern})");
        }
    }
    let _ = write!(text, ".unmet({:?}).exhausted({:?})", step.when_unmet, step.when_exhausted);
    text
}
