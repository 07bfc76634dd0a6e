//! A shape as the JSON that `pgflow.ensure_flow_compiled` takes.

mod read;

use serde_json::{Map, Value, json};

pub use read::InvalidShape;
pub(crate) use read::read_options;

use crate::{FlowShape, Pattern, StepOptions, StepShape};

impl FlowShape {
    /// The shape as the SQL core compares it: dependencies sorted, options only where set.
    ///
    /// ```
    /// use pgflow_model::{FlowShape, StepShape};
    ///
    /// let mut flow = FlowShape::new("orders");
    /// flow.steps.push(StepShape::new("fetch"));
    /// assert_eq!(flow.to_json()["steps"][0]["stepType"], "single");
    /// ```
    pub fn to_json(&self) -> Value {
        let steps = self.steps.iter().map(step).collect();
        with_options(Map::from_iter([("steps".to_owned(), Value::Array(steps))]), self.options)
    }
}

fn step(step: &StepShape) -> Value {
    let mut depends_on: Vec<_> = step.depends_on.iter().collect();
    depends_on.sort();
    let fields = json!({
        "slug": step.slug,
        "stepType": step.kind.sql(),
        "dependencies": depends_on,
        "whenUnmet": step.when_unmet.sql(),
        "whenExhausted": step.when_exhausted.sql(),
        "requiredInputPattern": pattern(step.only_if.as_ref()),
        "forbiddenInputPattern": pattern(step.unless.as_ref()),
    });
    match fields {
        Value::Object(fields) => with_options(fields, step.options),
        other => other,
    }
}

fn pattern(pattern: Option<&Pattern>) -> Value {
    match pattern {
        Some(pattern) => json!({ "defined": true, "value": pattern.to_json() }),
        None => json!({ "defined": false }),
    }
}

/// Options that are set, under the names of JSON.
pub(crate) fn options_json(options: StepOptions) -> Map<String, Value> {
    options.set().map(|(name, value)| (camel_case(name), Value::from(value))).collect()
}

fn with_options(mut fields: Map<String, Value>, options: StepOptions) -> Value {
    let options = options_json(options);
    if !options.is_empty() {
        fields.insert("options".to_owned(), Value::Object(options));
    }
    Value::Object(fields)
}

fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |text, word| {
        let (head, tail) = word.split_at(word.len().min(1));
        text + &head.to_ascii_uppercase() + tail
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OnSkip;

    #[test]
    fn is_what_the_sql_core_reads() {
        let mut flow = FlowShape::new("orders");
        flow.options.max_attempts = Some(4);
        let mut ship = StepShape::new("ship").map().after("pay").after("fetch");
        ship.only_if = Some(r#"{"pay":{"ok":true}}"#.parse().expect("a pattern"));
        ship.when_exhausted = OnSkip::SkipCascade;
        ship.options.start_delay = Some(9);
        flow.steps = vec![ship];
        let mut sorted = flow.clone();
        sorted.steps[0].depends_on.sort();
        assert_eq!(FlowShape::from_json("orders", &flow.to_json()), Ok(sorted));
        assert_eq!(
            flow.to_json(),
            json!({
                "options": { "maxAttempts": 4 },
                "steps": [{
                    "slug": "ship",
                    "stepType": "map",
                    "dependencies": ["fetch", "pay"],
                    "whenUnmet": "skip",
                    "whenExhausted": "skip-cascade",
                    "requiredInputPattern": { "defined": true, "value": { "pay": { "ok": true } } },
                    "forbiddenInputPattern": { "defined": false },
                    "options": { "startDelay": 9 },
                }],
            })
        );
    }
}
