//! What a package says about itself.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

/// A package of `cargo metadata`.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Manifest {
    pub(super) name: String,
    #[serde(rename = "manifest_path")]
    pub(super) path: PathBuf,
    publish: Option<Vec<String>>,
    description: Option<String>,
    license: Option<String>,
    readme: Option<String>,
    rust_version: Option<String>,
    keywords: Vec<String>,
    categories: Vec<String>,
    features: BTreeMap<String, Vec<String>>,
    metadata: Value,
}

impl Manifest {
    /// Tests and tools say `publish = false`.
    pub(super) fn is_for_users(&self) -> bool {
        self.publish.is_none()
    }

    /// Whether it says which features its documentation is of.
    fn is_documented(&self) -> bool {
        self.metadata.pointer("/docs/rs").is_some()
    }

    /// What a reader of the package would miss.
    pub(super) fn problems(&self) -> Vec<String> {
        let keys = [
            ("description", self.description.is_some()),
            ("license", self.license.is_some()),
            ("readme", self.readme.is_some()),
            ("rust-version", self.rust_version.is_some()),
            ("keywords", !self.keywords.is_empty()),
            ("categories", !self.categories.is_empty()),
            // Or its page shows what is there by default.
            ("package.metadata.docs.rs", self.features.is_empty() || self.is_documented()),
        ];
        let missing = keys.into_iter().filter(|(_, is_there)| !is_there);
        missing.map(|(key, _)| format!("Cargo.toml has no `{key}`")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{BTreeMap, Manifest};

    #[test]
    fn what_is_missing_is_named() {
        let json = r#"{"name": "p", "manifest_path": "Cargo.toml", "publish": null, "description": "d",
            "license": "l", "readme": "r", "rust_version": "1.95", "keywords": ["k"], "categories": ["c"],
            "features": {"tls": []}, "metadata": {"docs": {"rs": {"all-features": true}}}}"#;
        let whole: Manifest = serde_json::from_str(json).unwrap();
        assert!(whole.is_for_users() && whole.problems().is_empty());
        let bare = Manifest { keywords: vec!["k".into()], ..Manifest::default() };
        assert_eq!(bare.problems().len(), 5, "{:?}", bare.problems());
        assert!(bare.problems().contains(&"Cargo.toml has no `license`".to_owned()));
        let features = BTreeMap::from([("tls".to_owned(), Vec::new())]);
        let silent = Manifest { features, ..Manifest::default() };
        let problem = "Cargo.toml has no `package.metadata.docs.rs`".to_owned();
        assert!(silent.problems().contains(&problem) && !bare.problems().contains(&problem));
    }

    #[test]
    fn tests_and_tools_are_left_out() {
        let tool = Manifest { publish: Some(Vec::new()), ..Manifest::default() };
        assert!(!tool.is_for_users());
    }
}
