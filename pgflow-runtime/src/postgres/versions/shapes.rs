//! Whether a version is the same in the database as in the program.

use std::collections::HashMap;

use pgflow_model::{Change, FlowShape, StepOptions, StepShape, changes};
use serde_json::Value;
use sqlx::PgPool;

use crate::FlowDef;

/// How the stored graph of each version differs from the program's, by slug. Those that the database
/// does not know are left out.
pub(super) async fn differences(
    pool: &PgPool,
    flows: &[&FlowDef],
) -> Result<HashMap<String, Vec<Change>>, sqlx::Error> {
    let slugs: Vec<&str> = flows.iter().map(|flow| flow.version_slug).collect();
    // As text, so that the driver needs no JSON of its own.
    let rows: Vec<(String, String)> = sqlx::query_as(
        "select f.flow_slug, pgflow._get_flow_shape(f.flow_slug)::text
           from pgflow.flows f where f.flow_slug = any ($1)",
    )
    .bind(slugs)
    .fetch_all(pool)
    .await?;
    let mut found = HashMap::new();
    for (slug, shape) in rows {
        if let Some(flow) = flows.iter().find(|flow| flow.version_slug == slug) {
            let stored = read(flow.slug, &shape).map_err(sqlx::Error::Decode)?;
            found.insert(slug, changes(&stored, &graph(&flow.shape())));
        }
    }
    Ok(found)
}

fn read(slug: &str, text: &str) -> Result<FlowShape, Box<dyn std::error::Error + Send + Sync>> {
    let json: Value = serde_json::from_str(text)?;
    Ok(graph(&FlowShape::from_json(slug, &json)?))
}

/// The graph alone, in one order: options are tuned in the database, and it knows no types.
fn graph(shape: &FlowShape) -> FlowShape {
    let bare = |step: StepShape| StepShape {
        options: StepOptions::INHERIT,
        output_type: None,
        was: None,
        ..step
    };
    let steps = shape.normalized().steps.into_iter().map(bare).collect();
    FlowShape { steps, ..FlowShape::new(&*shape.slug) }
}
