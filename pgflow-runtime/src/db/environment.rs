//! What the environment says about the database.

use std::env::VarError;
use std::sync::Once;

use super::url::UrlError;

/// Variables that may hold it, the most important first.
const VARIABLES: [&str; 4] =
    ["PGFLOW_DATABASE_URL", "WORKFLOW_DATABASE_URL", DEPRECATED, "DATABASE_URL"];

const DEPRECATED: &str = "WORKFLOW_POSTGRES_URL";

const PREFIX: &str = "WORKFLOW_POSTGRES_JOB_PREFIX";

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

/// Whether nobody asks for a prefix. Ignoring one would let the workers of an environment take what is another's.
pub(crate) fn refuse_prefix(variable: impl Fn(&str) -> Option<String>) -> Result<(), UrlError> {
    match variable(PREFIX).map(|prefix| prefix.trim().to_owned()) {
        Some(prefix) if !prefix.is_empty() => Err(UrlError::Prefix { prefix }),
        _ => Ok(()),
    }
}

/// Of this process. What is no text is wrong, and not as if it were not there.
pub(crate) fn variable(name: &str) -> Option<String> {
    match std::env::var(name) {
        Ok(value) => Some(value),
        Err(VarError::NotUnicode(value)) => Some(value.to_string_lossy().into_owned()),
        Err(VarError::NotPresent) => None,
    }
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
    fn a_prefix_is_refused_with_a_sentence() {
        let refused = |value: &'static str| {
            refuse_prefix(move |name| (name == PREFIX).then(|| value.to_owned()))
        };
        let error = refused(" staging_ ").unwrap_err();
        assert_eq!(error, UrlError::Prefix { prefix: "staging_".to_owned() });
        let text = error.to_string();
        assert!(text.starts_with("WORKFLOW_POSTGRES_JOB_PREFIX is `staging_`, and"), "{text}");
        assert_eq!((refused(""), refused(" ")), (Ok(()), Ok(())), "it prefixed nothing");
        assert_eq!(refuse_prefix(|_| None), Ok(()));
    }

    #[test]
    fn an_empty_variable_is_a_mistake_not_a_file() {
        let error = find(None, |name| (name == "DATABASE_URL").then(String::new)).unwrap_err();
        assert!(error.to_string().starts_with("DATABASE_URL is empty"), "{error}");
        assert!(find(Some(" "), |_| None).is_err());
    }
}
