//! Which repository git works on.

/// The variables that tell git about a repository other than that of its directory.
///
/// Hooks, aliases and `git rebase --exec` set them; in a linked worktree also `GIT_DIR` without a work
/// tree, with which git takes any directory for the top of the repository. Who asks git about a directory
/// takes them away.
///
/// ```
/// let mut git = std::process::Command::new("git");
/// for name in pgflow_model::GIT_REPOSITORY {
///     git.env_remove(name);
/// }
/// ```
// Those of `git rev-parse --local-env-vars`, without configuration: it says whom git trusts.
pub const GIT_REPOSITORY: [&str; 12] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];
