//! JSON Schemas of a flow's data.

use std::borrow::Cow;
#[cfg(feature = "engine")]
use std::time::{Duration, SystemTime};

#[cfg(feature = "engine")]
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::{FlowDef, StepDef};
use pgflow_model::StepKind;

/// The key of the run's input.
const RUN: &str = "run";

/// Describes a type.
pub(crate) type SchemaFn = fn(&mut SchemaGenerator) -> Schema;

/// JSON Schemas of what goes into a flow and comes out of its steps.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
/// let schemas = count::Flow::schemas().unwrap();
/// assert_eq!(schemas.input.as_value()["type"], "integer");
/// assert_eq!(schemas.steps[0].slug, "one");
/// ```
#[derive(Clone, Debug)]
pub struct FlowSchemas {
    /// The run's input, as it is read.
    pub input: Schema,
    /// Every step, in the order of [`FlowDef::steps`].
    pub steps: Vec<StepSchemas>,
}

/// JSON Schemas of one step.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
/// let one = &count::Flow::schemas().unwrap().steps[0];
/// assert_eq!(one.input.as_value()["properties"]["run"]["type"], "integer");
/// ```
#[derive(Clone, Debug)]
pub struct StepSchemas {
    /// Name in the database.
    pub slug: &'static str,
    /// What the step is started with: the run's input and the outputs of its dependencies by key, or
    /// for a map step an element.
    pub input: Schema,
    /// What dependents see, as it is written: for a map step, an array.
    pub output: Schema,
}

impl FlowSchemas {
    /// `None` if the flow said `schema = false`.
    pub(crate) fn of(flow: &FlowDef) -> Option<Self> {
        let input = root(SchemaSettings::draft2020_12(), (flow.input_schema)()?);
        let steps = flow.steps.iter().map(|step| StepSchemas::of(flow, step));
        Some(Self { input, steps: steps.collect::<Option<_>>()? })
    }
}

impl StepSchemas {
    fn of(flow: &FlowDef, step: &StepDef) -> Option<Self> {
        let inputs = SchemaSettings::draft2020_12();
        let input = match step.kind {
            StepKind::Single => root(inputs, |generator| object(flow, step, generator)),
            StepKind::Map => root(inputs, |generator| item(flow, step, generator)),
        };
        Some(Self { slug: step.slug, input, output: output_schema(step)? })
    }
}

/// A step's output as it is written.
pub(crate) fn output_schema(step: &StepDef) -> Option<Schema> {
    (step.kept)().schema?;
    let settings = SchemaSettings::draft2020_12().for_serialize();
    Some(root(settings, |generator| output(step, generator)))
}

/// A step's output as it is read back.
pub(crate) fn read_back_schema(step: &StepDef) -> Option<Schema> {
    (step.kept)().schema?;
    Some(root(SchemaSettings::draft2020_12(), |generator| output(step, generator)))
}

/// What one task of a step puts out, as it is read back: what an answer to it has to be.
#[cfg(feature = "engine")]
pub(crate) fn answer_schema(step: &StepDef) -> Option<Value> {
    let schema = (step.kept)().schema?;
    let mut whole = root(SchemaSettings::draft2020_12(), schema).to_value();
    narrow(&mut whole);
    Some(whole)
}

/// Times of the standard library, which take less than schemars says of their fields.
#[cfg(feature = "engine")]
fn narrow(schema: &mut Value) {
    let within_second = ("maximum", json!(999_999_999));
    narrow_type::<Duration>(schema, &[("nanos", &within_second)]);
    let (secs, nanos) = ("secs_since_epoch", "nanos_since_epoch");
    let in_system = ("format", json!("int64"));
    narrow_type::<SystemTime>(schema, &[(secs, &in_system), (nanos, &within_second)]);
}

/// Says this, too, of fields of this type; not of another type with its name.
#[cfg(feature = "engine")]
fn narrow_type<T: JsonSchema>(schema: &mut Value, fields: &[(&str, &(&str, Value))]) {
    let own = T::json_schema(&mut SchemaSettings::draft2020_12().into_generator());
    let defined = schema.pointer_mut(&format!("/$defs/{}", T::schema_name()));
    let Some(defined) = defined.filter(|defined| **defined == *own.as_value()) else { return };
    for (field, (keyword, said)) in fields {
        defined["properties"][*field][*keyword] = said.clone();
    }
}

/// The run's input as it is written.
pub(crate) fn written_input_schema(flow: &FlowDef) -> Option<Schema> {
    Some(root(SchemaSettings::draft2020_12().for_serialize(), (flow.input_schema)()?))
}

/// The run's input as it is read.
pub(crate) fn input_schema(flow: &FlowDef) -> Option<Schema> {
    Some(root(SchemaSettings::draft2020_12(), (flow.input_schema)()?))
}

/// What a flow takes and puts out, as a hash: the schemas of its input and of the outputs of steps that no other depends on. `None`
/// if the flow said `schema = false`.
#[cfg(feature = "engine")]
pub(crate) fn interface(flow: &FlowDef) -> Option<String> {
    let mut outputs = Map::new();
    for step in leaves(flow) {
        outputs.insert(step.slug.to_owned(), output_schema(step)?.to_value());
    }
    let mut whole = json!({ "input": input_schema(flow)?.to_value(), "outputs": outputs });
    strip(&mut whole);
    whole.sort_all_objects();
    let hash = uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, whole.to_string().as_bytes());
    Some(hash.simple().to_string())
}

/// What the run's output is called where it is part of other data.
pub fn outputs_name(flow: &str) -> Cow<'static, str> {
    format!("output_of_{flow}").into()
}

/// The run's output: what steps put out that no other depends on. Any of them may be skipped.
pub fn outputs_schema(flow: &FlowDef, generator: &mut SchemaGenerator) -> Schema {
    let leaves =
        leaves(flow).map(|step| (step.slug.to_owned(), output(step, generator).to_value()));
    schema(json!({ "type": "object", "properties": leaves.collect::<Map<_, _>>() }))
}

/// Steps that no other depends on.
fn leaves(flow: &FlowDef) -> impl Iterator<Item = &StepDef> {
    let is_leaf =
        |step: &&StepDef| flow.steps.iter().all(|other| !other.depends_on.contains(&step.slug));
    flow.steps.iter().filter(is_leaf)
}

/// Removes what only people read. A field may have the same name, but it is described by an object.
pub(crate) fn strip(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.retain(|key, value| {
                !(value.is_string() && ["description", "title", "$schema"].contains(&&**key))
            });
            fields.values_mut().for_each(strip);
        }
        Value::Array(elements) => elements.iter_mut().for_each(strip),
        _ => {}
    }
}

/// A schema that stands alone: with the definitions it refers to.
fn root(settings: SchemaSettings, schema: impl FnOnce(&mut SchemaGenerator) -> Schema) -> Schema {
    let dialect = settings.meta_schema.clone();
    let mut generator = settings.into_generator();
    let mut schema = schema(&mut generator);
    let definitions = generator.take_definitions(true);
    let root = schema.ensure_object();
    root.extend(dialect.map(|dialect| ("$schema".to_owned(), Value::from(dialect.into_owned()))));
    if !definitions.is_empty() {
        root.insert("$defs".to_owned(), Value::Object(definitions));
    }
    schema
}

fn output(step: &StepDef, generator: &mut SchemaGenerator) -> Schema {
    let one = describe((step.kept)().schema, generator);
    match step.kind {
        StepKind::Single => one,
        StepKind::Map => schema(json!({ "type": "array", "items": one })),
    }
}

/// What a single step is started with: the run's input and the outputs of its dependencies, by key.
fn object(flow: &FlowDef, step: &StepDef, generator: &mut SchemaGenerator) -> Schema {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    if flow.input_type.is_some() {
        properties.insert(RUN.to_owned(), describe((flow.input_schema)(), generator).to_value());
        required.push(RUN);
    }
    for dep in step.depends_on.iter().filter_map(|slug| flow.step(slug)) {
        properties.insert(dep.slug.to_owned(), output(dep, generator).to_value());
        required.extend((!dep.may_be_missing()).then_some(dep.slug));
    }
    schema(json!({ "type": "object", "properties": properties, "required": required }))
}

/// What a task of a map step is started with: an element of what the step maps over.
fn item(flow: &FlowDef, step: &StepDef, generator: &mut SchemaGenerator) -> Schema {
    let whole = match step.depends_on.first() {
        Some(slug) => flow.step(slug).map_or_else(Schema::default, |dep| output(dep, generator)),
        None => describe((flow.input_schema)(), generator),
    };
    let definitions = Value::Object(generator.definitions().clone());
    let whole = resolve(whole.as_value(), &definitions);
    whole.get("items").cloned().map_or_else(Schema::default, schema)
}

/// Follows a reference into the definitions.
fn resolve<'a>(schema: &'a Value, definitions: &'a Value) -> &'a Value {
    let name =
        schema.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix("#/$defs/"));
    name.and_then(|name| definitions.get(name)).unwrap_or(schema)
}

fn describe(schema: Option<SchemaFn>, generator: &mut SchemaGenerator) -> Schema {
    schema.map_or_else(Schema::default, |schema| schema(generator))
}

fn schema(json: Value) -> Schema {
    Schema::try_from(json).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_people_read_does_not_count() {
        let describe = |text: &str| {
            let mut schema = json!({
                "title": text,
                "description": text,
                "properties": { "title": { "type": "string" } },
            });
            strip(&mut schema);
            schema
        };
        assert_eq!(describe("one"), describe("other"));
        assert_eq!(describe("one"), json!({ "properties": { "title": { "type": "string" } } }));
    }

    #[test]
    #[cfg(feature = "engine")]
    fn times_have_as_many_nanoseconds_as_serde_reads() {
        let narrowed = |schema: SchemaFn| {
            let mut whole = root(SchemaSettings::draft2020_12(), schema).to_value();
            narrow(&mut whole);
            whole
        };
        let times = narrowed(SchemaGenerator::subschema_for::<(Option<Duration>, SystemTime)>);
        let fits = |value: Value| pgflow_machine::wait::mismatch(&times, &value).is_none();
        let times = |secs: u64, nanos: u32, since: u64| {
            let since = json!({ "secs_since_epoch": since, "nanos_since_epoch": nanos });
            json!([{ "secs": secs, "nanos": nanos }, since])
        };
        let last = i64::MAX.unsigned_abs();
        assert!(fits(times(u64::MAX, 999_999_999, last)));
        assert!(!fits(times(u64::MAX, 1_000_000_000, 0)));
        assert!(!fits(times(0, 0, last + 1)));
    }

    #[derive(schemars::JsonSchema)]
    #[schemars(rename = "Duration")]
    #[expect(dead_code, reason = "it is described")]
    struct OfSomebody {
        nanos: u64,
    }

    #[test]
    #[cfg(feature = "engine")]
    fn a_type_of_the_same_name_is_left_alone() {
        let schema = SchemaGenerator::subschema_for::<OfSomebody>;
        let mut whole = root(SchemaSettings::draft2020_12(), schema).to_value();
        let before = whole.clone();
        narrow(&mut whole);
        assert_eq!(whole, before);
    }
}
