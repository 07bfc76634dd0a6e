//! A disk that is full for a while.

use std::path::Path;
use std::time::Duration;

use pgflow_test_support::{MariaDb, MariaDbOptions, Server, ServerOptions};

use crate::flows::{mail, ship};
use crate::harness::{Kind, Lab, Metrics, Outcome, What, compile, until};
use crate::{ensure, metrics};

const FLOWS: &[&str] = &["mail", "ship"];
/// Makes a disk full, in front of the C library.
const SHIM: &str = include_str!("../../shim/disk.rs");
const MAILS: u32 = 60;
const ROWS: u32 = 300;

/// X23: no file of the database can grow, while results and `tx` steps want to be recorded. There is one attempt.
pub(super) async fn full(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let shim = compile(lab.dir(), "disk", SHIM)?;
    let full = lab.dir().join("full");
    let base = match kind {
        Kind::Sqlite => lab.base(kind, FLOWS).await?,
        Kind::MySql => {
            // Writes that the kernel does later cannot be refused here.
            let extra = vec![("innodb-use-native-aio".to_owned(), "OFF".to_owned())];
            let options =
                MariaDbOptions { env: variables(&shim, &full, ".ibd"), extra, fsync: false };
            let server = tokio::task::spawn_blocking(move || MariaDb::start(&options)).await??;
            let base = lab.base_on_mariadb(&server, FLOWS).await?;
            lab.hold(server);
            base
        }
        Kind::Postgres => {
            let env = variables(&shim, &full, "/base/");
            let options = ServerOptions { env, ..ServerOptions::default() };
            let server = tokio::task::spawn_blocking(|| Server::start(options)).await??;
            let base = lab.base_on(&server, FLOWS).await?;
            lab.hold(server);
            base
        }
    };
    let mails = base.db.start(mail::Flow, &(0..MAILS).collect::<Vec<_>>()).await?;
    let rows = base.db.start(ship::Flow, &(0..ROWS).collect::<Vec<_>>()).await?;
    let mut worker = lab.worker(&base.url, FLOWS).arg("--concurrency", 8);
    if kind == Kind::Sqlite {
        worker = disk(&shim, &full, "app.db")
            .into_iter()
            .fold(worker, |worker, (name, value)| worker.env(name, value));
    }
    let worker = worker.start()?;
    until("some mails", async || Ok((lab.journal.count(What::Entered)? >= 8).then_some(())))
        .await?;
    let before = lines(lab);
    lab.open("full")?;
    let seconds = lab.either(12, 44);
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    std::fs::remove_file(&full)?;
    let said = lines(lab) - before;
    ensure!(said > 0, "nobody noticed that the disk is full");
    ensure!(said as u64 <= 4 + seconds, "{said} lines in {seconds} s");
    ensure!(mails.output().await?.send.len() == MAILS as usize, "mails have another output");
    ensure!(rows.output().await?.one.len() == ROWS as usize, "rows have another output");
    let sent = lab.journal.count(What::Entered)?;
    ensure!(sent == MAILS as usize, "{sent} mails were sent instead of {MAILS}");
    let effects = base.effects().await?.len();
    ensure!(effects == ROWS as usize, "there are {effects} rows");
    let end = worker.stop().await?;
    ensure!(end.lost == 0, "the worker says {end:?}");
    Ok(
        metrics! { "seconds_full": seconds, "lines_in_the_log": said, "attempts_used_up": 0, "lost": 0 },
    )
}

/// Variables that make a disk full.
fn disk(shim: &Path, full: &Path, files: &str) -> [(&'static str, String); 3] {
    [
        ("LD_PRELOAD", shim.display().to_string()),
        ("PGFLOW_DISK_FULL", full.display().to_string()),
        ("PGFLOW_DISK_FILES", files.to_owned()),
    ]
}

fn variables(shim: &Path, full: &Path, files: &str) -> Vec<(String, String)> {
    disk(shim, full, files).map(|(name, value)| (name.to_owned(), value)).into()
}

/// What processes have said so far.
fn lines(lab: &Lab) -> usize {
    std::fs::read_to_string(lab.dir().join("stderr")).unwrap_or_default().lines().count()
}
