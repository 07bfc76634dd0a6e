//! What migrations do, apart from the language of any database.

mod json;
mod read;

use std::fmt;

use crate::sql::{delete_sql, expect_sql, flow_options_sql, step_options_sql, version_sql};
use crate::{FlowShape, StepOptions};

/// One thing that a migration does. A migration is a list of them, in order.
///
/// Postgres gets them as SQL; other databases apply this.
///
/// ```
/// use pgflow_model::{FlowShape, Operation, StepShape};
///
/// let mut shape = FlowShape::new("orders");
/// shape.steps.push(StepShape::new("pay"));
/// let create = Operation::CreateVersion { version: 2, slug: "orders__v2".to_owned(), shape };
/// let sql = create.to_sql();
/// assert!(sql.ends_with("SELECT pgflow.add_flow_version('orders', 2, 'orders__v2');\n"));
/// assert_eq!(Operation::of_sql(&sql)?, [create]);
/// # Ok::<(), pgflow_model::InvalidOperation>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// Create a version of the flow that `shape.slug` names. The version with the highest number
    /// is the one that new runs of the flow use.
    CreateVersion {
        /// Its number.
        version: u32,
        /// Its own name, which is also that of its queue.
        slug: String,
        /// Its graph, each step after what it depends on. Types and former names of steps are not
        /// in it: a database has no use for them.
        shape: FlowShape,
    },
    /// Give a version these options as defaults for its steps, and the usual ones for the others.
    SetFlowOptions {
        /// Name of the version.
        slug: String,
        /// All its options.
        options: StepOptions,
    },
    /// Give a step these options, and its flow's for the others.
    SetStepOptions {
        /// Name of the version.
        slug: String,
        /// Slug of the step.
        step: String,
        /// All its options.
        options: StepOptions,
    },
    /// Delete a version and everything that ever ran on it.
    DeleteVersion {
        /// Name of the version.
        slug: String,
    },
}

/// Why a text or a value is not a list of operations.
///
/// ```
/// let why = pgflow_model::Operation::of_sql("DROP TABLE users;").unwrap_err();
/// assert_eq!(why.to_string(), "it has statements that pgflow does not write");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidOperation(pub(crate) String);

impl fmt::Display for InvalidOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidOperation {}

impl Operation {
    /// The statements that do it in Postgres.
    ///
    /// ```
    /// let delete = pgflow_model::Operation::DeleteVersion { slug: "orders".to_owned() };
    /// assert_eq!(delete.to_sql(), "SELECT pgflow.delete_flow_and_data('orders');\n");
    /// ```
    pub fn to_sql(&self) -> String {
        match self {
            Self::CreateVersion { version, slug, shape } => {
                let create = shape.create_sql(slug) + &expect_sql(slug, shape);
                if *version == 1 {
                    return create;
                }
                create + &version_sql(&shape.slug, *version, slug)
            }
            Self::SetFlowOptions { slug, options } => flow_options_sql(slug, *options),
            Self::SetStepOptions { slug, step, options } => step_options_sql(slug, step, *options),
            Self::DeleteVersion { slug } => delete_sql(slug),
        }
    }
}
