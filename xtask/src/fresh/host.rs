//! What the host lends: package sources, toolchain, repository, certificates, and the way to the network.

use std::path::{Path, PathBuf};
use std::process::Command;

use pgflow_test_programs::{is_root, run};

use super::Error;

/// Whatever else leads to the network from here.
const PROXIES: [&str; 6] =
    ["http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"];

/// Where sources, keys and certificates are kept.
const CONFIGURATION: [&str; 9] = [
    "/etc/apt/sources.list",
    "/etc/apt/sources.list.d",
    "/etc/apt/trusted.gpg",
    "/etc/apt/trusted.gpg.d",
    "/etc/apt/keyrings",
    "/etc/apt/auth.conf.d",
    "/usr/share/keyrings",
    "/etc/resolv.conf",
    "/etc/hosts",
];

/// Said before anything is made.
pub(super) fn check() -> Result<(), Error> {
    if !is_root() {
        return Err(Error::NotRoot);
    }
    let is_there = |name: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let places = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
        places.map(|dir| dir.join(name)).any(|file| file.is_file())
    };
    match ["debootstrap", "unshare", "git"].into_iter().find(|program| !is_there(program)) {
        Some(program) => Err(Error::Missing { program }),
        None => Ok(()),
    }
}

/// The host's release of Debian, and where its apt gets it from.
pub(super) fn archive() -> Result<(String, String), Error> {
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let codename = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    let codename = codename.unwrap_or("no release").trim_matches('"').to_owned();
    let format = "$(LABEL)|$(CODENAME)|$(COMPONENT)|$(REPO_URI)";
    let targets = run(Command::new("apt-get").args([
        "indextargets",
        "--format",
        format,
        "Created-By: Packages",
    ]))?;
    let wanted = format!("Debian|{codename}|main|");
    let uri = targets.lines().find_map(|line| line.strip_prefix(&wanted)).map(str::to_owned);
    uri.map(|uri| (codename.clone(), uri)).ok_or(Error::NoArchive { codename })
}

/// Copies what leads to packages: sources, keys, proxies, names of hosts.
pub(super) fn copy_configuration(root: &Path) -> Result<(), Error> {
    for path in CONFIGURATION.into_iter().filter(|path| Path::new(path).exists()) {
        let place = root.join(&path[1..]);
        let parent = place.parent().unwrap_or(root);
        run(Command::new("mkdir").arg("-p").arg(parent))?;
        run(Command::new("cp").args(["-rL", path]).arg(parent))?;
    }
    let acquire = run(Command::new("apt-config").args(["dump", "Acquire"]))?;
    write(&root.join("etc/apt/apt.conf.d/99host"), &acquire)
}

/// Over those of the packages, for those whose network has its own.
pub(super) fn copy_certificates(root: &Path) -> Result<(), Error> {
    let bundle = Path::new("/etc/ssl/certs/ca-certificates.crt");
    if bundle.is_file() {
        run(Command::new("cp").arg(bundle).arg(root.join("etc/ssl/certs")))?;
    }
    Ok(())
}

/// Where cargo gets its crates from, if that is not the default.
pub(super) fn copy_cargo_configuration(home: &Path) -> Result<(), Error> {
    let host = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo")));
    let config = host.map(|host| host.join("config.toml")).filter(|file| file.is_file());
    if let Some(config) = config {
        run(Command::new("mkdir").arg("-p").arg(home.join(".cargo")))?;
        run(Command::new("cp").arg(config).arg(home.join(".cargo")))?;
    }
    Ok(())
}

/// The toolchain that runs this, and not rustup's stand-ins.
pub(super) fn toolchain() -> Result<PathBuf, Error> {
    let sysroot =
        run(Command::new("rustc").args(["--print", "sysroot"]).current_dir(repository()))?;
    Ok(PathBuf::from(sysroot.trim()))
}

/// It comes with the toolchain or not at all: nothing can be added to that in the bare root.
pub(super) fn check_rust_analyzer(toolchain: &Path) -> Result<(), Error> {
    if toolchain.join("bin/rust-analyzer").is_file() {
        return Ok(());
    }
    Err(Error::NoRustAnalyzer { toolchain: toolchain.display().to_string() })
}

/// HEAD, and nothing that is not committed.
pub(super) fn clone(place: &Path) -> Result<String, Error> {
    let repository = repository();
    let git = |args: &[&str]| run(Command::new("git").arg("-C").arg(&repository).args(args));
    if !git(&["status", "--porcelain"])?.is_empty() {
        println!("    note: changes that are not committed are not in a fresh clone");
    }
    run(Command::new("git")
        .args(["clone", "--quiet", "--no-hardlinks"])
        .arg(&repository)
        .arg(place))?;
    Ok(git(&["rev-parse", "--short", "HEAD"])?.trim().to_owned())
}

fn repository() -> PathBuf {
    let xtask = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    xtask.parent().map(Path::to_owned).unwrap_or(xtask)
}

pub(super) fn proxies() -> impl Iterator<Item = (&'static str, String)> {
    PROXIES.into_iter().filter_map(|name| Some((name, std::env::var(name).ok()?)))
}

pub(super) fn write(path: &Path, text: &str) -> Result<(), Error> {
    let doing = || format!("write {}", path.display());
    std::fs::write(path, text).map_err(|source| Error::Io { doing: doing(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_toolchain_without_rust_analyzer_is_noticed_at_once() {
        assert!(check_rust_analyzer(&toolchain().unwrap()).is_ok(), "rust-toolchain.toml names it");
        let error = check_rust_analyzer(Path::new("/nowhere")).unwrap_err().to_string();
        assert!(error.contains("/nowhere") && error.contains("rustup component add"), "{error}");
    }
}
