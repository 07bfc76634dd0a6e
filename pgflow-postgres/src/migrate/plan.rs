//! What is to be done, and what forbids it.

use std::cmp::Ordering;

use super::core::Core;
use super::error::{MigrateError, Problem};
use super::file::{SqlFile, version_of};
use super::relations::changed_relations;
use super::state::{AppliedFile, State};
use super::version::Version;
use pgflow_backend::backend::SchemaState;

impl Core {
    /// The files to apply, in order. Refuses a database that is newer or was changed by hand.
    pub(super) fn plan(&self, state: &State) -> Result<Vec<&SqlFile>, MigrateError> {
        self.refuse_newer(state)?;
        let mut problems = self.changed_files(state);
        problems.extend(changed_functions(state));
        problems.extend(changed_relations(&state.recorded_relations, &state.found_relations));
        if !problems.is_empty() {
            return Err(MigrateError::Tampered { problems });
        }
        Ok(self.outdated(state))
    }

    /// Newer by the library that wrote it, or by a number we do not have yet.
    fn refuse_newer(&self, state: &State) -> Result<(), MigrateError> {
        let ours = Version::of_library();
        let library = state.files.iter().filter_map(|file| Version::parse(&file.library)).max();
        if let Some(found) = library.filter(|found| *found > ours) {
            let known = format!("version {ours}");
            return Err(MigrateError::Newer { found: format!("version {found}"), known });
        }
        let last = state.files.iter().max_by_key(|file| version_of(&file.name));
        match last.filter(|file| version_of(&file.name) > Some(self.version())) {
            Some(file) => {
                let known = self.numbered.last().map_or_else(String::new, |file| file.name.clone());
                Err(MigrateError::Newer { found: file.name.clone(), known })
            }
            None => Ok(()),
        }
    }

    /// How a database compares whose newest numbered file is this, applied by these libraries.
    pub(crate) fn state_of(&self, found: String, libraries: Vec<String>) -> SchemaState {
        let known = self.numbered.last().map_or_else(String::new, |file| file.name.clone());
        let ours = Version::of_library();
        let is_newer = |library: &String| Version::parse(library).is_some_and(|it| it > ours);
        let newer = libraries.into_iter().find(is_newer);
        match (version_of(&found).cmp(&Some(self.version())), newer) {
            (_, Some(library)) => {
                let found = format!("version {library}");
                SchemaState::Newer { found, known: format!("version {ours}") }
            }
            (Ordering::Less, None) => SchemaState::Behind { found, known },
            (Ordering::Equal, None) => SchemaState::Current,
            (Ordering::Greater, None) => SchemaState::Newer { found, known },
        }
    }

    fn changed_files(&self, state: &State) -> Vec<Problem> {
        let numbered = state.files.iter().filter(|file| version_of(&file.name).is_some());
        numbered.filter_map(|file| self.problem_with(file)).collect()
    }

    fn problem_with(&self, applied: &AppliedFile) -> Option<Problem> {
        match self.numbered.iter().find(|file| file.name == applied.name) {
            None => Some(Problem::UnknownFile(applied.name.clone())),
            Some(file) if file.checksum != applied.checksum => {
                Some(Problem::File(applied.name.clone()))
            }
            Some(_) => None,
        }
    }

    fn outdated(&self, state: &State) -> Vec<&SqlFile> {
        let is_outdated = |file: &&SqlFile| {
            let same = |applied: &AppliedFile| {
                applied.name == file.name && applied.checksum == file.checksum
            };
            !state.files.iter().any(same)
        };
        let mut files: Vec<_> =
            self.numbered.iter().chain(&self.functions).filter(is_outdated).collect();
        if !files.is_empty() || self.after.iter().any(|file| is_outdated(&file)) {
            files.extend(&self.after);
        }
        files
    }
}

fn changed_functions(state: &State) -> Vec<Problem> {
    let gone_or_changed = state.recorded.iter().filter_map(|(signature, fingerprint)| match state
        .found
        .get(signature)
    {
        None => Some(Problem::MissingFunction(signature.clone())),
        Some(found) if found != fingerprint => Some(Problem::Function(signature.clone())),
        Some(_) => None,
    });
    let added = state.found.keys().filter(|signature| !state.recorded.contains_key(*signature));
    gone_or_changed.chain(added.cloned().map(Problem::AddedFunction)).collect()
}
