//! Operations out of the SQL of a migration.

use super::{InvalidOperation, Operation};
use crate::sql::{Argument, Call, Literal, calls, expect_sql};
use crate::{FlowShape, OnSkip, StepKind, StepOptions, StepShape};

/// Arguments of `add_step` that are not options.
const POLICIES: [&str; 5] = [
    "required_input_pattern",
    "forbidden_input_pattern",
    "when_unmet",
    "when_exhausted",
    "step_type",
];

impl Operation {
    /// What the statements of a migration do. Reads what [`to_sql`](Self::to_sql) writes, with
    /// comments and a transaction around it, and nothing else.
    ///
    /// ```
    /// let sql = "-- a comment\nSELECT pgflow.set_flow_options('orders', timeout => 5);\n";
    /// assert_eq!(pgflow_model::Operation::of_sql(sql)?.len(), 1);
    /// # Ok::<(), pgflow_model::InvalidOperation>(())
    /// ```
    pub fn of_sql(sql: &str) -> Result<Vec<Self>, InvalidOperation> {
        let foreign =
            || InvalidOperation("it has statements that pgflow does not write".to_owned());
        let mut operations = Vec::new();
        for call in calls(sql).ok_or_else(foreign)? {
            read(&call, &mut operations).ok_or_else(foreign)?;
        }
        Ok(operations)
    }
}

/// Adds what a call does; steps and the number of a version belong to what was created before.
fn read(call: &Call, operations: &mut Vec<Operation>) -> Option<()> {
    let mut positional = call.arguments.iter().take_while(|argument| argument.name.is_none());
    let slug = text(positional.next()?)?;
    match &*call.function {
        "create_flow" => {
            let options = options(call, &[])?;
            let shape = FlowShape { options, ..FlowShape::new(slug.clone()) };
            operations.push(Operation::CreateVersion { version: 1, slug, shape });
        }
        "add_step" => {
            let name = text(positional.next()?)?;
            let (_, shape) = created(operations, &slug)?;
            shape.steps.push(step(name, positional.next(), call)?);
        }
        "expect_steps" => {
            let (_, shape) = created(operations, &slug)?;
            // It says what was created, or one of the two was edited by hand.
            let calls = calls(&expect_sql(&slug, shape))?;
            (calls.as_slice() == std::slice::from_ref(call)).then_some(())?;
        }
        "add_flow_version" => {
            let Literal::Number(number) = positional.next()?.value else { return None };
            let (version, shape) = created(operations, &text(positional.next()?)?)?;
            (*version, shape.slug) = (number, slug);
        }
        "set_flow_options" => {
            operations.push(Operation::SetFlowOptions { slug, options: options(call, &[])? });
        }
        "set_step_options" => {
            let (step, options) = (text(positional.next()?)?, options(call, &[])?);
            operations.push(Operation::SetStepOptions { slug, step, options });
        }
        "delete_flow_and_data" => operations.push(Operation::DeleteVersion { slug }),
        _ => return None,
    }
    Some(())
}

/// The version that the last operation created, if it is this one.
fn created<'a>(
    operations: &'a mut [Operation],
    wanted: &str,
) -> Option<(&'a mut u32, &'a mut FlowShape)> {
    match operations.last_mut()? {
        Operation::CreateVersion { version, slug, shape } if slug == wanted => {
            Some((version, shape))
        }
        _ => None,
    }
}

fn step(slug: String, deps: Option<&Argument>, call: &Call) -> Option<StepShape> {
    let options = options(call, &POLICIES)?;
    let mut step = StepShape { options, ..StepShape::new(slug) };
    if let Some(deps) = deps {
        let Literal::Texts(deps) = &deps.value else { return None };
        step.depends_on.clone_from(deps);
    }
    for (name, argument) in named(call) {
        match name {
            "required_input_pattern" => step.only_if = Some(text(argument)?.parse().ok()?),
            "forbidden_input_pattern" => step.unless = Some(text(argument)?.parse().ok()?),
            "when_unmet" => step.when_unmet = OnSkip::of_sql(&text(argument)?)?,
            "when_exhausted" => step.when_exhausted = OnSkip::of_sql(&text(argument)?)?,
            "step_type" => step.kind = StepKind::of_sql(&text(argument)?)?,
            _ => {}
        }
    }
    Some(step)
}

/// The options among the arguments, all others of which have to be known.
fn options(call: &Call, others: &[&str]) -> Option<StepOptions> {
    let mut options = StepOptions::INHERIT;
    for (name, argument) in named(call) {
        match (options.get_mut(name), &argument.value) {
            (Some(place), Literal::Number(number)) => *place = Some(*number),
            (None, _) if others.contains(&name) => {}
            _ => return None,
        }
    }
    Some(options)
}

fn named(call: &Call) -> impl Iterator<Item = (&str, &Argument)> {
    call.arguments.iter().filter_map(|argument| Some((argument.name.as_deref()?, argument)))
}

fn text(argument: &Argument) -> Option<String> {
    match &argument.value {
        Literal::Text(text) => Some(text.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_by_hand_is_refused() {
        for sql in [
            "SELECT pgflow.start_flow('a');",
            "SELECT pgflow.add_step('a', 's');",
            "SELECT pgflow.create_flow('a'); SELECT pgflow.add_step('b', 's');",
            "SELECT pgflow.create_flow('a'); SELECT pgflow.add_step('a', 's'); SELECT pgflow.expect_steps('a', ARRAY['t']);",
            "SELECT pgflow.create_flow('a', colour => 1);",
            "SELECT pgflow.create_flow('a', timeout => 'soon');",
            "SELECT pgflow.create_flow('a', step_type => 'map');",
            "SELECT pgflow.create_flow('a'); SELECT pgflow.add_step('a', 's', when_unmet => 'x');",
        ] {
            assert!(Operation::of_sql(sql).is_err(), "{sql}");
        }
    }

    #[test]
    fn reads_what_it_writes() {
        let mut step = StepShape::new("b").after("a").map();
        step.only_if = Some(r#"{"a":["it's","a\\b"]}"#.parse().expect("a pattern"));
        step.unless = Some(r#"{"a":[1]}"#.parse().expect("a pattern"));
        (step.when_unmet, step.when_exhausted) = (OnSkip::Fail, OnSkip::SkipCascade);
        step.options.start_delay = Some(9);
        let options = StepOptions { max_attempts: Some(2), ..StepOptions::INHERIT };
        let steps = vec![StepShape::new("a"), step];
        let shape = FlowShape { options, steps, ..FlowShape::new("f") };
        let slug = || "f__v3".to_owned();
        let operations = [
            Operation::CreateVersion { version: 3, slug: slug(), shape },
            Operation::SetFlowOptions { slug: slug(), options },
            Operation::SetStepOptions { slug: slug(), step: "b".to_owned(), options },
            Operation::DeleteVersion { slug: slug() },
        ];
        let sql: String = operations.iter().map(Operation::to_sql).collect();
        assert_eq!(Operation::of_sql(&format!("begin;\r\n{sql}commit;\n")).unwrap(), operations);
        for operation in operations {
            assert_eq!(Operation::from_json(&operation.to_json()), Ok(operation));
        }
    }
}
