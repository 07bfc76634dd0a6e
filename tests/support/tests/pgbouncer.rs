//! A PgBouncer that ends when it should.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pgflow_test_support::{PgBouncer, PoolMode, TestDb, is_alive};

/// In `PGFLOW_TEST_ROLE=victim` this test is the process that gets killed.
const ROLE: &str = "PGFLOW_TEST_ROLE";

#[tokio::test(flavor = "multi_thread")]
async fn it_ends_with_its_value() {
    let db = TestDb::empty().await;
    let bouncer = PgBouncer::start(&db, PoolMode::Transaction);
    let dir = bouncer.dir().to_owned();
    let pid = pid(&dir);
    assert!(is_alive(pid));
    drop(bouncer);
    assert!(!dir.exists() && !is_alive(pid));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_test_process_leaves_none_behind() {
    if std::env::var(ROLE).is_ok() {
        let db = TestDb::empty().await;
        let bouncer = PgBouncer::start(&db, PoolMode::Session);
        println!("directory {}", bouncer.dir().display());
        std::thread::sleep(Duration::from_mins(10));
    }
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", "a_killed_test_process_leaves_none_behind"])
        .env(ROLE, "victim")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let dir = read_directory(&mut victim);
    let pid = pid(&dir);
    assert!(is_alive(pid));
    victim.kill().unwrap();
    victim.wait().unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while dir.exists() || is_alive(pid) {
        assert!(Instant::now() < deadline, "waited in vain");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn read_directory(victim: &mut std::process::Child) -> PathBuf {
    use std::io::{BufRead, BufReader};
    let lines = BufReader::new(victim.stdout.take().unwrap()).lines();
    let line = lines.map_while(Result::ok).find(|line| line.contains("directory "));
    PathBuf::from(line.expect("the victim started none").split("directory ").nth(1).unwrap())
}

fn pid(dir: &Path) -> u32 {
    let file = std::fs::read_to_string(dir.join("pgbouncer.pid")).unwrap();
    file.trim().parse().unwrap()
}
