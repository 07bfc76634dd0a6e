//! Operations as JSON.

use serde_json::{Value, json};

use super::{InvalidOperation, Operation};
use crate::json::{options_json, read_options};
use crate::{FlowShape, InvalidShape};

impl Operation {
    /// It as JSON; `do` says what.
    ///
    /// ```
    /// let delete = pgflow_model::Operation::DeleteVersion { slug: "orders".to_owned() };
    /// assert_eq!(delete.to_json().to_string(), r#"{"do":"deleteVersion","slug":"orders"}"#);
    /// ```
    pub fn to_json(&self) -> Value {
        match self {
            Self::CreateVersion { version, slug, shape } => json!({
                "do": "createVersion",
                "flow": shape.slug,
                "version": version,
                "slug": slug,
                "shape": shape.to_json(),
            }),
            Self::SetFlowOptions { slug, options } => {
                json!({ "do": "setFlowOptions", "slug": slug, "options": options_json(*options) })
            }
            Self::SetStepOptions { slug, step, options } => json!({
                "do": "setStepOptions",
                "slug": slug,
                "step": step,
                "options": options_json(*options),
            }),
            Self::DeleteVersion { slug } => json!({ "do": "deleteVersion", "slug": slug }),
        }
    }

    /// From what [`to_json`](Self::to_json) wrote.
    ///
    /// ```
    /// use pgflow_model::Operation;
    ///
    /// let delete = Operation::DeleteVersion { slug: "orders".to_owned() };
    /// assert_eq!(Operation::from_json(&delete.to_json())?, delete);
    /// # Ok::<(), pgflow_model::InvalidOperation>(())
    /// ```
    pub fn from_json(json: &Value) -> Result<Self, InvalidOperation> {
        let slug = text(json, "slug")?;
        match json["do"].as_str().unwrap_or_default() {
            "createVersion" => {
                let version = json["version"].as_u64().and_then(|n| u32::try_from(n).ok());
                let version = version.ok_or(InvalidShape("version"))?;
                let shape = FlowShape::from_json(&text(json, "flow")?, &json["shape"])?;
                Ok(Self::CreateVersion { version, slug, shape })
            }
            "setFlowOptions" => {
                Ok(Self::SetFlowOptions { slug, options: read_options(&json["options"])? })
            }
            "setStepOptions" => {
                let (step, options) = (text(json, "step")?, read_options(&json["options"])?);
                Ok(Self::SetStepOptions { slug, step, options })
            }
            "deleteVersion" => Ok(Self::DeleteVersion { slug }),
            other => Err(InvalidOperation(format!("there is no operation `{other}`"))),
        }
    }

    /// A list of operations as one JSON text, as `pgflow::migrations!()` embeds it.
    ///
    /// ```
    /// use pgflow_model::Operation;
    ///
    /// let delete = [Operation::DeleteVersion { slug: "orders".to_owned() }];
    /// assert_eq!(Operation::list_of_json(&Operation::list_to_json(&delete))?, delete);
    /// # Ok::<(), pgflow_model::InvalidOperation>(())
    /// ```
    pub fn list_to_json(operations: &[Self]) -> String {
        Value::Array(operations.iter().map(Self::to_json).collect()).to_string()
    }

    /// From what [`list_to_json`](Self::list_to_json) wrote.
    pub fn list_of_json(text: &str) -> Result<Vec<Self>, InvalidOperation> {
        let values: Vec<Value> =
            serde_json::from_str(text).map_err(|why| InvalidOperation(why.to_string()))?;
        values.iter().map(Self::from_json).collect()
    }
}

impl From<InvalidShape> for InvalidOperation {
    fn from(why: InvalidShape) -> Self {
        Self(why.to_string())
    }
}

fn text(json: &Value, name: &'static str) -> Result<String, InvalidShape> {
    json[name].as_str().map(str::to_owned).ok_or(InvalidShape(name))
}
