//! Why a fresh machine could not be had, or did not do.

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(
        "fresh: making a root needs root's rights (try `sudo env PATH=\"$PATH\" cargo xtask fresh`)"
    )]
    NotRoot,
    #[error("fresh: no `{program}` on this machine\nhelp: apt-get install -y {program}")]
    Missing { program: &'static str },
    #[error(
        "fresh: apt knows no archive of {codename} of Debian; is this Debian, and was there an `apt-get update`?"
    )]
    NoArchive { codename: String },
    #[error(
        "fresh: the toolchain in {toolchain} has no rust-analyzer, which tests of editors ask\nhelp: \
         `rustup component add rust-analyzer`; the bare root has the toolchain as it is here, and no rustup"
    )]
    NoRustAnalyzer { toolchain: String },
    #[error("fresh: {0}")]
    Program(#[from] pgflow_test_programs::Error),
    #[error("fresh: cannot {doing}: {source}")]
    Io { doing: String, source: std::io::Error },
    #[error("fresh: `{command}` failed in the bare root: {status}{}", place(.kept.as_deref()))]
    Command { command: String, status: String, kept: Option<String> },
}

fn place(kept: Option<&str>) -> String {
    kept.map(|dir| format!("\nhelp: the root is {dir}")).unwrap_or_default()
}
