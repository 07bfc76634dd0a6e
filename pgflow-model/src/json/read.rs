//! A shape out of its JSON.

use std::fmt;

use serde_json::{Map, Value};

use super::camel_case;
use crate::{FlowShape, OPTIONS, OnSkip, Pattern, StepKind, StepOptions, StepShape};

/// Why a JSON value is not the shape of a flow.
///
/// ```
/// let why = pgflow_model::FlowShape::from_json("orders", &serde_json::json!({})).unwrap_err();
/// assert_eq!(why.to_string(), "`steps` is missing, or is not what it should be");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidShape(pub(crate) &'static str);

impl fmt::Display for InvalidShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is missing, or is not what it should be", self.0)
    }
}

impl std::error::Error for InvalidShape {}

impl FlowShape {
    /// The flow of this name from what [`to_json`](Self::to_json) or the database says about it.
    ///
    /// ```
    /// use pgflow_model::{FlowShape, StepShape};
    ///
    /// let mut flow = FlowShape::new("orders");
    /// flow.steps.push(StepShape::new("fetch"));
    /// assert_eq!(FlowShape::from_json("orders", &flow.to_json())?, flow);
    /// # Ok::<(), pgflow_model::InvalidShape>(())
    /// ```
    pub fn from_json(slug: &str, json: &Value) -> Result<Self, InvalidShape> {
        let steps = json["steps"].as_array().ok_or(InvalidShape("steps"))?;
        Ok(Self {
            options: read_options(&json["options"])?,
            steps: steps.iter().map(step).collect::<Result<_, _>>()?,
            ..Self::new(slug)
        })
    }
}

fn step(json: &Value) -> Result<StepShape, InvalidShape> {
    let policy = |name| OnSkip::of_sql(text(json, name)?).ok_or(InvalidShape(name));
    let deps = json["dependencies"].as_array().ok_or(InvalidShape("dependencies"))?;
    let dep = |dep: &Value| dep.as_str().map(str::to_owned).ok_or(InvalidShape("dependencies"));
    Ok(StepShape {
        kind: StepKind::of_sql(text(json, "stepType")?).ok_or(InvalidShape("stepType"))?,
        depends_on: deps.iter().map(dep).collect::<Result<_, _>>()?,
        only_if: pattern(json, "requiredInputPattern")?,
        unless: pattern(json, "forbiddenInputPattern")?,
        when_unmet: policy("whenUnmet")?,
        when_exhausted: policy("whenExhausted")?,
        options: read_options(&json["options"])?,
        ..StepShape::new(text(json, "slug")?)
    })
}

fn text<'a>(json: &'a Value, name: &'static str) -> Result<&'a str, InvalidShape> {
    json[name].as_str().ok_or(InvalidShape(name))
}

fn pattern(json: &Value, name: &'static str) -> Result<Option<Pattern>, InvalidShape> {
    match json[name]["defined"].as_bool() {
        Some(false) => Ok(None),
        Some(true) => {
            let pattern = Pattern::try_from(json[name]["value"].clone());
            pattern.map(Some).map_err(|_| InvalidShape(name))
        }
        None => Err(InvalidShape(name)),
    }
}

/// Options that are set; none if there is nothing.
pub(crate) fn read_options(json: &Value) -> Result<StepOptions, InvalidShape> {
    let mut options = StepOptions::INHERIT;
    let none = Map::new();
    let fields = if json.is_null() { Some(&none) } else { json.as_object() };
    for (key, value) in fields.ok_or(InvalidShape("options"))? {
        let rule = OPTIONS.iter().find(|rule| camel_case(rule.name) == *key);
        let place = rule.and_then(|rule| options.get_mut(rule.name));
        let value = value.as_u64().and_then(|value| u32::try_from(value).ok());
        *place.ok_or(InvalidShape("options"))? = Some(value.ok_or(InvalidShape("options"))?);
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_a_shape_is_named() {
        let good =
            || FlowShape { steps: vec![StepShape::new("a")], ..FlowShape::new("f") }.to_json();
        for (name, wrong) in [
            ("slug", json!(1)),
            ("stepType", json!("loop")),
            ("dependencies", json!([1])),
            ("whenUnmet", json!(null)),
            ("whenExhausted", json!("skip_cascade")),
            ("requiredInputPattern", json!({ "defined": true, "value": [] })),
            ("forbiddenInputPattern", json!(null)),
            ("options", json!({ "timeout": -1 })),
            ("options", json!({ "colour": 1 })),
        ] {
            let mut json = good();
            json["steps"][0][name] = wrong;
            assert_eq!(FlowShape::from_json("f", &json), Err(InvalidShape(name)));
        }
    }
}
