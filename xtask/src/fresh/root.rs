//! The bare root.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use pgflow_test_programs::{Watchdog, run};

use super::{Error, host};

/// What the README asks for besides the toolchain; certificates come with whatever downloads a toolchain.
const PACKAGES: &str = "gcc libc6-dev ca-certificates";

/// Mounts are private, and go with the last process: nothing of the host is below the root when it is
/// deleted. The toolchain cannot be written to.
const ENTER: &str = r#"
set -e
root=$1 toolchain=$2
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mkdir -p "$root/dev/shm" "$root/dev/pts" "$root/opt/rust"
mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts "$root/dev/pts"
ln -sf pts/ptmx "$root/dev/ptmx"
mount --bind "$toolchain" "$root/opt/rust"
mount -o remount,bind,ro "$root/opt/rust"
exec chroot "$root" /bin/sh -c "$3"
"#;

/// Gone with this value, unless it is to be kept.
pub(super) struct Root {
    pub(super) release: String,
    pub(super) commit: String,
    dir: PathBuf,
    toolchain: PathBuf,
    watchdog: Option<Watchdog>,
}

impl Root {
    pub(super) fn create(keep: bool) -> Result<Self, Error> {
        let (release, archive) = host::archive()?;
        let dir = std::env::temp_dir().join(format!("pgflow-fresh-{}", std::process::id()));
        let watchdog = if keep { None } else { Some(Watchdog::watch(&dir)?) };
        let toolchain = host::toolchain()?;
        let mut root = Self { release, commit: String::new(), dir, toolchain, watchdog };
        root.step("debootstrap", || {
            let mut command = Command::new("debootstrap");
            let command = command.arg("--variant=minbase").arg(&root.release).arg(&root.dir);
            run(command.arg(&archive)).map(drop)
        })?;
        host::copy_configuration(&root.dir)?;
        root.run(&format!(
            "export DEBIAN_FRONTEND=noninteractive; {{ apt-get update && \
             apt-get install -y --no-install-recommends {PACKAGES}; }} >/dev/null"
        ))?;
        host::copy_certificates(&root.dir)?;
        host::copy_cargo_configuration(&root.dir.join("root"))?;
        root.commit = host::clone(&root.dir.join("root/pgflow"))?;
        Ok(root)
    }

    /// A command as a newcomer types it in the clone; shows what it says.
    pub(super) fn run(&self, command: &str) -> Result<(), Error> {
        println!("==> fresh: {command}");
        let start = Instant::now();
        let there = "cd /root/pgflow 2>/dev/null || cd /root\n";
        let status = Command::new("unshare")
            .args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, "enter"])
            .args([&self.dir, &self.toolchain])
            .arg(format!("{there}{command}"))
            .stdin(Stdio::null())
            .env_clear()
            .envs([("HOME", "/root"), ("LANG", "C.UTF-8")])
            .env(
                "PATH",
                "/opt/rust/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            )
            .envs(host::proxies())
            .status();
        let doing = || "run `unshare`".to_owned();
        let status = status.map_err(|source| Error::Io { doing: doing(), source })?;
        println!("<== fresh: {status}, {:.1} s", start.elapsed().as_secs_f64());
        if status.success() {
            return Ok(());
        }
        let kept = self.watchdog.is_none().then(|| self.dir.display().to_string());
        Err(Error::Command { command: command.into(), status: status.to_string(), kept })
    }

    fn step<T, E: Into<Error>>(
        &self,
        name: &str,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, Error> {
        println!("==> fresh: {name} of {} into {}", self.release, self.dir.display());
        let start = Instant::now();
        let done = work().map_err(Into::into)?;
        println!("<== fresh: {:.1} s", start.elapsed().as_secs_f64());
        Ok(done)
    }
}
