//! Where the URL of the database comes from.

use std::sync::Once;

use super::url::UrlError;

/// Variables that may hold it, the most important first.
const VARIABLES: [&str; 4] =
    ["PGFLOW_DATABASE_URL", "WORKFLOW_DATABASE_URL", DEPRECATED, "DATABASE_URL"];

const DEPRECATED: &str = "WORKFLOW_POSTGRES_URL";

/// The URL: what was given on the command line, or the first variable that is set.
pub(super) fn find(
    flag: Option<&str>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<String, UrlError> {
    let set = VARIABLES.iter().find_map(|name| Some((*name, variable(name)?)));
    let (source, url) = match (flag, set) {
        (Some(flag), _) => ("the database URL", flag.to_owned()),
        (None, Some(set)) => set,
        (None, None) => return Err(UrlError::NotGiven),
    };
    if source == DEPRECATED {
        warn_once();
    }
    let url = url.trim().to_owned();
    if url.is_empty() {
        return Err(UrlError::Empty { source_name: source.to_owned() });
    }
    Ok(url)
}

fn warn_once() {
    static WARNED: Once = Once::new();
    WARNED.call_once(|| {
        tracing::warn!("{DEPRECATED} is deprecated: use PGFLOW_DATABASE_URL");
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(flag: Option<&str>, set: &[&str]) -> Result<String, UrlError> {
        find(flag, |name| set.contains(&name).then(|| format!("memory:{name}")))
    }

    #[test]
    fn the_first_source_counts() {
        assert_eq!(found(Some("memory:flag"), &VARIABLES).as_deref(), Ok("memory:flag"));
        for (at, name) in VARIABLES.iter().enumerate() {
            assert_eq!(found(None, &VARIABLES[at..]), Ok(format!("memory:{name}")));
        }
        assert_eq!(found(None, &[]), Err(UrlError::NotGiven));
    }

    #[test]
    fn an_empty_variable_is_a_mistake_not_a_file() {
        let error = find(None, |name| (name == "DATABASE_URL").then(String::new)).unwrap_err();
        assert!(error.to_string().starts_with("DATABASE_URL is empty"), "{error}");
        assert!(find(Some(" "), |_| None).is_err());
    }
}
