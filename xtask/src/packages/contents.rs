//! The files of a package, and those they need.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// A package as it would be uploaded.
#[derive(Debug, Default)]
pub(super) struct Contents {
    packaged: BTreeSet<PathBuf>,
    tracked: Vec<PathBuf>,
    /// The packaged sources with their text.
    sources: Vec<(PathBuf, String)>,
    license: String,
}

/// Their argument is a path beside the source.
const INCLUDES: [&str; 3] = ["include_str!(\"", "include_bytes!(\"", "include!(\""];

/// What the text of the license is called.
const LICENSE: &str = "Apache License";

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

impl Contents {
    /// With the sources of the files listed.
    pub(super) fn read(
        dir: &Path,
        packaged: Vec<String>,
        tracked: Vec<String>,
    ) -> Result<Self, String> {
        let packaged: BTreeSet<PathBuf> = packaged.into_iter().map(PathBuf::from).collect();
        let mut sources = Vec::new();
        for name in packaged.iter().filter(|name| name.extension().is_some_and(|kind| kind == "rs"))
        {
            sources.push((name.clone(), read(&dir.join(name))?));
        }
        let tracked = tracked.into_iter().map(PathBuf::from).collect();
        Ok(Self { packaged, tracked, sources, license: read(&dir.join("LICENSE"))? })
    }

    /// What is not inside although it has to be.
    pub(super) fn problems(&self) -> Vec<String> {
        let needed = [Path::new("LICENSE"), Path::new("README.md")].into_iter();
        let missing = needed.chain(self.tracked.iter().map(PathBuf::as_path));
        let missing = missing.filter(|name| !self.packaged.contains(*name));
        let missing = missing.map(|name| format!("{} is not packaged", name.display()));
        // A link that was checked out as a file holds the path of the text.
        let is_text = self.license.contains(LICENSE);
        let other = (!is_text).then(|| format!("LICENSE is not the {LICENSE}"));
        let missing = missing.chain(other);
        missing.chain(self.sources.iter().flat_map(|source| self.outside(source))).collect()
    }

    /// What a source needs of files that the package has not.
    fn outside(&self, (name, text): &(PathBuf, String)) -> Vec<String> {
        let dir = name.parent().unwrap_or(Path::new(""));
        let included = included(text).map(|path| (path, joined(dir, path)));
        let included = included
            .filter(|(_, file)| file.as_ref().is_none_or(|file| !self.packaged.contains(file)));
        let included = included.map(|(path, _)| format!("{} includes {path}", name.display()));
        // A build script looks at files by itself.
        let leaves = name == Path::new("build.rs") && text.contains("\"..");
        let leaves = leaves.then(|| "build.rs looks outside of the package".to_owned());
        included.chain(leaves).collect()
    }
}

/// The paths that a source includes.
fn included(text: &str) -> impl Iterator<Item = &str> {
    let of = |word: &'static str| text.split(word).skip(1);
    let rest = INCLUDES.into_iter().flat_map(of);
    rest.filter_map(|rest| rest.split_once('"').map(|(path, _)| path))
}

/// None where a path leaves the package.
fn joined(dir: &Path, path: &str) -> Option<PathBuf> {
    let mut file = PathBuf::new();
    for part in dir.join(path).components() {
        match part {
            Component::ParentDir => file.pop().then_some(())?,
            Component::Normal(name) => file.push(name),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::{Contents, Path, PathBuf, joined};

    fn package(source: (&str, &str), tracked: &[&str]) -> Vec<String> {
        let packaged = ["LICENSE", "README.md", "src/lib.rs", "src/sql/a.sql", "build.rs"];
        let contents = Contents {
            packaged: packaged.iter().map(PathBuf::from).collect(),
            tracked: tracked.iter().map(PathBuf::from).collect(),
            sources: vec![(source.0.into(), source.1.into())],
            license: super::LICENSE.to_owned(),
        };
        contents.problems()
    }

    #[test]
    fn what_is_inside_is_no_problem() {
        let includes = "const A: &str = include_str!(\"sql/a.sql\"); include!(concat!(\"x\"));";
        assert_eq!(package(("src/lib.rs", includes), &["src/sql/a.sql"]), Vec::<String>::new());
    }

    #[test]
    fn a_file_that_is_left_out_is_named() {
        let problems = package(("src/lib.rs", ""), &["src/sql/b.sql"]);
        assert_eq!(problems, ["src/sql/b.sql is not packaged"]);
        let bare = Contents { license: super::LICENSE.to_owned(), ..Contents::default() };
        assert_eq!(bare.problems().len(), 2, "LICENSE and README.md");
    }

    #[test]
    fn a_license_is_its_text() {
        let link = Contents { license: "../LICENSE".to_owned(), ..Contents::default() };
        assert!(link.problems().contains(&"LICENSE is not the Apache License".to_owned()));
    }

    #[test]
    fn an_included_file_has_to_be_inside() {
        for path in ["sql/b.sql", "../../docs/guide.md", "/etc/hosts"] {
            let source = format!("const A: &str = include_str!(\"{path}\");");
            let problems = package(("src/lib.rs", &source), &[]);
            assert_eq!(problems, [format!("src/lib.rs includes {path}")]);
        }
    }

    #[test]
    fn a_build_script_stays_inside() {
        let problems = package(("build.rs", "let sql = root.join(\"../migrations\");"), &[]);
        assert_eq!(problems, ["build.rs looks outside of the package"]);
    }

    #[test]
    fn paths_are_joined_without_leaving() {
        assert_eq!(joined(Path::new("src/a"), "../b.sql"), Some("src/b.sql".into()));
        assert_eq!(joined(Path::new("src"), "../../b.sql"), None);
    }
}
