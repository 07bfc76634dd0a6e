//! References of a schema.

use serde_json::Value;

/// A schema with the definitions that its parts refer to.
#[derive(Clone, Copy)]
pub(super) struct Root<'a>(pub(super) &'a Value);

impl<'a> Root<'a> {
    /// The definition that a schema refers to.
    pub(super) fn name(schema: &'a Value) -> Option<&'a str> {
        let reference = schema.get("$ref")?.as_str()?;
        reference.strip_prefix("#/$defs/").or_else(|| reference.strip_prefix("#/definitions/"))
    }

    /// What a schema says, behind a reference or not.
    pub(super) fn resolve(self, schema: &'a Value) -> &'a Value {
        let Some(name) = Self::name(schema) else { return schema };
        let definitions = self.0.get("$defs").or_else(|| self.0.get("definitions"));
        definitions.and_then(|all| all.get(name)).unwrap_or(schema)
    }
}
