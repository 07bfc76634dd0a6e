//! What the user's crate calls `pgflow`.

use std::path::Path;
use std::{env, fs};

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};

/// The path given with `crate = …`, or that of the dependency in the manifest.
///
/// Where there is no manifest to read, or it is not understood, it is the crate's own name.
pub(crate) fn path(given: Option<&syn::Path>) -> Result<TokenStream, &'static str> {
    if let Some(given) = given {
        return Ok(given.to_token_stream());
    }
    let package = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let mut manifests = Path::new(&package).ancestors().filter_map(read);
    let own = manifests.next().unwrap_or_default();
    let mut above = || manifests.find(|manifest| is_workspace(manifest)).unwrap_or_default();
    let workspace = if is_workspace(&own) { String::new() } else { above() };
    let name = Ident::new(&dependency_name(&own, &workspace)?, Span::call_site());
    Ok(quote!(::#name))
}

fn is_workspace(manifest: &str) -> bool {
    manifest.contains("[workspace")
}

/// The name of the dependency, as far as the manifests tell.
fn dependency_name(own: &str, workspace: &str) -> Result<String, &'static str> {
    if !own.is_empty() && !own.contains("pgflow") && !workspace.contains("pgflow") {
        return Err(NOT_A_DEPENDENCY);
    }
    Ok(name(own, workspace).unwrap_or_else(|| "pgflow".to_owned()))
}

const NOT_A_DEPENDENCY: &str = "`pgflow` is not a dependency of this crate\n\
    help: add it to `Cargo.toml`, or say where it is: `crate = path::to::pgflow`";

fn read(directory: &Path) -> Option<String> {
    fs::read_to_string(directory.join("Cargo.toml")).ok()
}

/// The name of the dependency in a package, or in the workspace that the package takes it from.
fn name(own: &str, workspace: &str) -> Option<String> {
    let found = names(own);
    let name = found.iter().find(|name| *name == "pgflow").or(found.first()).cloned();
    let name = name.or_else(|| {
        let is_taken =
            |name: &String| own.contains(&**name) || own.contains(&name.replace('_', "-"));
        names(workspace).into_iter().find(is_taken)
    })?;
    syn::parse_str::<Ident>(&name).is_ok().then_some(name)
}

/// The names under which a manifest has the dependency.
fn names(manifest: &str) -> Vec<String> {
    let (mut names, mut table) = (Vec::new(), "");
    for line in manifest.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            table = header;
        }
        let name = match table.rsplit_once("dependencies") {
            // `[dependencies]` and lines `name = …` or `name.key = …`
            Some((_, "")) => dependency(line),
            // `[dependencies.name]` and lines `key = …`
            Some((_, name)) if is_package(line) => name.strip_prefix('.'),
            Some((_, ".pgflow")) => Some("pgflow"),
            _ => None,
        };
        names.extend(name.map(|name| name.trim_matches(['"', '\'']).replace('-', "_")));
    }
    names
}

/// The name in a line about the dependency.
fn dependency(line: &str) -> Option<&str> {
    let (key, value) = line.split_once('=')?;
    let (name, key) = key.trim().split_once('.').unwrap_or((key.trim(), ""));
    let is_renamed =
        if key == "package" { is_text(value) } else { value.split(['{', ',']).any(is_package) };
    (name == "pgflow" || is_renamed).then_some(name)
}

/// Whether this is `package = "pgflow"`.
fn is_package(assignment: &str) -> bool {
    let parts = assignment.split_once('=');
    parts.is_some_and(|(key, value)| key.trim() == "package" && is_text(value))
}

fn is_text(value: &str) -> bool {
    value.trim().trim_end_matches('}').trim().trim_matches(['"', '\'']) == "pgflow"
}

#[cfg(test)]
mod tests {
    use super::{NOT_A_DEPENDENCY, dependency_name, name, names};

    #[test]
    fn whoever_adds_it_to_the_manifest_is_understood() {
        let without = "[package]\nname = \"shop\"\n\n[dependencies]\n";
        assert_eq!(dependency_name(without, ""), Err(NOT_A_DEPENDENCY));
        assert!(NOT_A_DEPENDENCY.contains("help: add it to `Cargo.toml`"));
        let with = format!("{without}pgflow = \"0.1\"\n");
        assert_eq!(dependency_name(&with, "").as_deref(), Ok("pgflow"));
        assert_eq!(dependency_name("", "").as_deref(), Ok("pgflow"), "there is no manifest");
    }

    #[test]
    fn finds_the_dependency_in_any_spelling() {
        for (manifest, name) in [
            ("[dependencies]\npgflow = \"0.1\"", "pgflow"),
            ("[dependencies]\npgflow.workspace = true", "pgflow"),
            ("[dependencies.pgflow]\nversion = \"0.1\"", "pgflow"),
            ("[dependencies]\nflows = { version = \"0.1\", package = \"pgflow\" }", "flows"),
            ("[dev-dependencies]\nmy-flows = {package='pgflow'}", "my_flows"),
            ("[target.'cfg(unix)'.dependencies]\nflows.package = \"pgflow\"", "flows"),
            ("[dependencies.flows]\nversion = \"0.1\"\npackage = \"pgflow\"", "flows"),
            ("[workspace.dependencies]\nflows = { package = \"pgflow\" }", "flows"),
        ] {
            assert_eq!(names(manifest).first().map(String::as_str), Some(name), "{manifest}");
        }
    }

    #[test]
    fn a_package_may_take_it_from_its_workspace() {
        let workspace =
            "[workspace.dependencies]\npgflow = \"1\"\nmy-flows = { package = \"pgflow\" }";
        let named = |own| name(own, workspace);
        let renamed = "[dependencies]\nmy-flows.workspace = true";
        assert_eq!(named(renamed).as_deref(), Some("my_flows"));
        let own = "[dependencies]\nflows = { package = \"pgflow\", path = \"..\" }";
        assert_eq!(named(own).as_deref(), Some("flows"));
        assert_eq!(named("[dependencies]\nserde = \"1\""), None);
    }

    #[test]
    fn other_tables_and_crates_are_not_it() {
        for manifest in [
            "[package]\nname = \"pgflow\"",
            "[dependencies]\npgflow-build = \"0.1\"\nother = { package = \"pgflow-model\" }",
            "[features]\npgflow = []",
        ] {
            assert!(names(manifest).is_empty(), "{manifest}");
        }
    }
}
