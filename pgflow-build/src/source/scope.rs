//! Where the files of a module's child modules are.

use std::path::{Path, PathBuf};

/// Where the files of a module's child modules are.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    /// The file being read.
    pub(super) file: PathBuf,
    /// Directory of the file.
    file_dir: PathBuf,
    /// Directory of child modules without `#[path]`.
    mod_dir: PathBuf,
    is_inline: bool,
    /// Whether a `cfg` around it may leave it out.
    pub(super) is_conditional: bool,
}

impl Scope {
    /// A file whose children are beside it: a root, a `mod.rs`, or one that `#[path]` names.
    pub(super) fn root(file: &Path) -> Self {
        let dir = file.parent().unwrap_or(Path::new("")).to_owned();
        Self {
            file: file.to_owned(),
            file_dir: dir.clone(),
            mod_dir: dir,
            is_inline: false,
            is_conditional: false,
        }
    }

    /// `mod name;`, where `exists` knows which of its files is there.
    pub(super) fn child(&self, name: &str, exists: impl Fn(&Path) -> bool) -> Self {
        let nested = self.mod_dir.join(name);
        let mod_rs = nested.join("mod.rs");
        if exists(&mod_rs) {
            return self.beside(&mod_rs);
        }
        let file = self.mod_dir.join(format!("{name}.rs"));
        Self { file, file_dir: self.mod_dir.clone(), mod_dir: nested, ..self.beside(&mod_rs) }
    }

    /// `#[path = "…"] mod name;`, or a file that is included.
    pub(super) fn at(&self, path: &str) -> Self {
        self.beside(&self.path_dir().join(path))
    }

    /// A file that is included, which is found from the file alone.
    pub(super) fn included(&self, path: &str) -> Self {
        self.beside(&self.file_dir.join(path))
    }

    /// The same place, for what a `cfg` may leave out.
    pub(super) fn conditional(self, is_conditional: bool) -> Self {
        Self { is_conditional: self.is_conditional || is_conditional, ..self }
    }

    /// A file that this one leads to, with its children beside it.
    fn beside(&self, file: &Path) -> Self {
        Self::root(file).conditional(self.is_conditional)
    }

    /// `mod name { … }`, with or without `#[path = "…"]`.
    pub(super) fn inline(&self, name: &str, path: Option<&str>) -> Self {
        let mod_dir = match path {
            Some(path) => self.path_dir().join(path),
            None => self.mod_dir.join(name),
        };
        Self { mod_dir, is_inline: true, ..self.clone() }
    }

    /// What `#[path]` counts from: the file, unless inline modules are in between.
    fn path_dir(&self) -> &Path {
        if self.is_inline { &self.mod_dir } else { &self.file_dir }
    }
}
