//! SQL that makes a flow, or changes its options, and how to read it again.

mod call;
mod token;

use std::fmt::Write;

pub(crate) use call::{Argument, Call, Literal, calls};

use crate::{FlowShape, OnSkip, StepKind, StepOptions, StepShape};

impl FlowShape {
    /// Statements that create the flow under `slug`, one per line: the flow, then each step after
    /// what it depends on.
    ///
    /// ```
    /// use pgflow_model::{FlowShape, StepShape};
    ///
    /// let mut flow = FlowShape::new("orders");
    /// flow.steps.push(StepShape::new("fetch"));
    /// assert_eq!(
    ///     flow.create_sql("orders"),
    ///     "SELECT pgflow.create_flow('orders');\nSELECT pgflow.add_step('orders', 'fetch');\n"
    /// );
    /// ```
    pub fn create_sql(&self, slug: &str) -> String {
        let mut sql = flow_call("create_flow", slug, self.options);
        for step in &self.normalized().steps {
            sql += &add_step(slug, step);
        }
        sql
    }
}

/// The statement that gives the flow under `slug` these options, and defaults for the others.
pub(crate) fn flow_options_sql(slug: &str, options: StepOptions) -> String {
    flow_call("set_flow_options", slug, options)
}

/// The statement that gives a step of the flow under `slug` these options, and the flow's for the
/// others.
pub(crate) fn step_options_sql(slug: &str, step: &str, options: StepOptions) -> String {
    let mut sql = format!("SELECT pgflow.set_step_options({}, {}", literal(slug), literal(step));
    push_options(&mut sql, options);
    sql + ");\n"
}

/// The statement that fails if `slug` was there already, as a flow with other steps.
pub(crate) fn expect_sql(slug: &str, shape: &FlowShape) -> String {
    let slugs = |is_wanted: &dyn Fn(&StepShape) -> bool| {
        let mut slugs: Vec<_> =
            shape.steps.iter().filter(|step| is_wanted(step)).map(|step| &*step.slug).collect();
        slugs.sort_unstable();
        slugs
    };
    let steps = array(&slugs(&|_| true));
    let maps = slugs(&|step| step.kind == StepKind::Map);
    let maps = if maps.is_empty() { String::new() } else { format!(", {}", array(&maps)) };
    format!("SELECT pgflow.expect_steps({}, {steps}{maps});\n", literal(slug))
}

/// The statement that makes `slug` the version of that number, and new runs use it.
pub(crate) fn version_sql(flow: &str, version: u32, slug: &str) -> String {
    format!("SELECT pgflow.add_flow_version({}, {version}, {});\n", literal(flow), literal(slug))
}

/// The statement that deletes a version of a flow and everything that ever ran on it.
pub(crate) fn delete_sql(slug: &str) -> String {
    format!("SELECT pgflow.delete_flow_and_data({});\n", literal(slug))
}

fn flow_call(function: &str, slug: &str, options: StepOptions) -> String {
    let mut sql = format!("SELECT pgflow.{function}({}", literal(slug));
    push_options(&mut sql, options);
    sql + ");\n"
}

fn add_step(flow: &str, step: &StepShape) -> String {
    let mut sql = format!("SELECT pgflow.add_step({}, {}", literal(flow), literal(&step.slug));
    if !step.depends_on.is_empty() {
        let _ = write!(sql, ", {}", array(&step.depends_on));
    }
    push_options(&mut sql, step.options);
    let patterns =
        [("required_input_pattern", &step.only_if), ("forbidden_input_pattern", &step.unless)];
    for (name, pattern) in patterns {
        if let Some(pattern) = pattern {
            let _ = write!(sql, ", {name} => {}", literal(&pattern.to_string()));
        }
    }
    if step.when_unmet != OnSkip::Skip {
        let _ = write!(sql, ", when_unmet => {}", literal(step.when_unmet.sql()));
    }
    if step.when_exhausted != OnSkip::Fail {
        let _ = write!(sql, ", when_exhausted => {}", literal(step.when_exhausted.sql()));
    }
    if step.kind == StepKind::Map {
        sql.push_str(", step_type => 'map'");
    }
    sql + ");\n"
}

fn push_options(sql: &mut String, options: StepOptions) {
    for (name, value) in options.set() {
        let _ = write!(sql, ", {name} => {value}");
    }
}

fn array(slugs: &[impl AsRef<str>]) -> String {
    let slugs: Vec<_> = slugs.iter().map(|slug| literal(slug.as_ref())).collect();
    format!("ARRAY[{}]", slugs.join(", "))
}

/// A text in quotes. A backslash has no meaning in one unless it starts with `E`, which also works
/// on a server whose `standard_conforming_strings` is off.
fn literal(text: &str) -> String {
    let quoted = text.replace('\'', "''");
    if quoted.contains('\\') {
        return format!("E'{}'", quoted.replace('\\', "\\\\"));
    }
    format!("'{quoted}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_only_what_is_not_the_default() {
        let mut flow = FlowShape::new("orders");
        flow.options.max_attempts = Some(4);
        let mut ship = StepShape::new("ship").map().after("pay");
        ship.only_if = Some(r#"{"pay":["it's","a\\b"]}"#.parse().expect("a pattern"));
        ship.when_exhausted = OnSkip::SkipCascade;
        ship.options.start_delay = Some(9);
        flow.steps = vec![ship, StepShape::new("pay")];
        assert_eq!(
            flow.create_sql("orders__v2"),
            "SELECT pgflow.create_flow('orders__v2', max_attempts => 4);\n\
             SELECT pgflow.add_step('orders__v2', 'pay');\n\
             SELECT pgflow.add_step('orders__v2', 'ship', ARRAY['pay'], start_delay => 9, \
             required_input_pattern => E'{\"pay\":[\"it''s\",\"a\\\\\\\\b\"]}', \
             when_exhausted => 'skip-cascade', step_type => 'map');\n"
        );
    }
}
