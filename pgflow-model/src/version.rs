//! Names of a flow's versions.

use crate::{InvalidSlug, check_flow_slug};

/// What stands between a flow's name and the number of a version.
const MARK: &str = "__v";

/// The slug under which a version of a flow is kept: the first has the flow's own name.
///
/// ```
/// use pgflow_model::version_slug;
///
/// assert_eq!(version_slug("orders", 1).unwrap(), "orders");
/// assert_eq!(version_slug("orders", 2).unwrap(), "orders__v2");
/// assert!(version_slug(&"o".repeat(47), 2).is_err());
/// ```
pub fn version_slug(flow: &str, version: u32) -> Result<String, InvalidSlug> {
    let slug = if version <= 1 { flow.to_owned() } else { format!("{flow}{MARK}{version}") };
    check_flow_slug(&slug)?;
    Ok(slug)
}

/// Whether a name looks like one that [`version_slug`] makes, so that no flow should have it.
///
/// ```
/// assert!(pgflow_model::is_version_slug("orders__v2"));
/// assert!(!pgflow_model::is_version_slug("orders_v2"));
/// ```
pub fn is_version_slug(slug: &str) -> bool {
    let number = slug.rsplit_once(MARK).filter(|(flow, _)| !flow.is_empty()).map(|(_, n)| n);
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|digit| digit.is_ascii_digit()))
}
