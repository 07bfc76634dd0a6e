//! Servers that end when they should.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pgflow_test_support::{Server, ServerOptions, TestDb, is_alive};

/// In `PGFLOW_TEST_ROLE=victim` this test is the process that gets killed.
const ROLE: &str = "PGFLOW_TEST_ROLE";

#[test]
fn a_killed_test_process_leaves_nothing_behind() {
    if std::env::var(ROLE).is_ok() {
        let server = Server::start(ServerOptions::default()).unwrap();
        println!("directory {}", directory(&server).display());
        std::thread::sleep(Duration::from_mins(10));
    }
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", "a_killed_test_process_leaves_nothing_behind"])
        .env(ROLE, "victim")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let dir = read_directory(&mut victim);
    let pid = postmaster(&dir);
    assert!(is_alive(pid));
    victim.kill().unwrap();
    victim.wait().unwrap();
    wait_until(|| !dir.exists() && !is_alive(pid));
}

#[test]
fn a_server_ends_with_its_value() {
    let server = Server::start(ServerOptions::default()).unwrap();
    let dir = directory(&server);
    let pid = postmaster(&dir);
    drop(server);
    assert!(!dir.exists() && !is_alive(pid));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_durable_server_keeps_what_was_committed() {
    let options = ServerOptions { fsync: true, ..ServerOptions::default() };
    let mut server = Server::start(options).unwrap();
    let db = TestDb::empty_on(&server).await;
    let mut connection = db.connect().await;
    let create = "create table kept as select 7 as number";
    sqlx::query(create).execute(&mut connection).await.unwrap();
    server.kill9();
    assert!(sqlx::query("select 1").execute(&mut connection).await.is_err());
    server.restart().unwrap();
    let pool = &db.pool;
    let kept: i32 = sqlx::query_scalar("select number from kept").fetch_one(pool).await.unwrap();
    assert_eq!(kept, 7);
}

#[test]
fn options_reach_the_server() {
    let extra = vec![("work_mem".into(), "5MB".into())];
    let server = Server::start(ServerOptions { extra, ..ServerOptions::default() }).unwrap();
    assert!(server.version_num() >= 140_000);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let work_mem: String = runtime.block_on(async {
        let pool = sqlx::PgPool::connect(&server.url("postgres")).await.unwrap();
        sqlx::query_scalar("show work_mem").fetch_one(&pool).await.unwrap()
    });
    assert_eq!(work_mem, "5MB");
}

fn directory(server: &Server) -> PathBuf {
    let url = server.url("x");
    let host = url.split("host=").nth(1).unwrap();
    PathBuf::from(host.split('&').next().unwrap())
}

fn read_directory(victim: &mut std::process::Child) -> PathBuf {
    use std::io::{BufRead, BufReader};
    let lines = BufReader::new(victim.stdout.take().unwrap()).lines();
    let line = lines.map_while(Result::ok).find(|line| line.contains("directory "));
    PathBuf::from(line.expect("the victim started no server").split("directory ").nth(1).unwrap())
}

fn postmaster(dir: &Path) -> u32 {
    let file = std::fs::read_to_string(dir.join("data/postmaster.pid")).unwrap();
    file.lines().next().unwrap().parse().unwrap()
}

fn wait_until(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain");
        std::thread::sleep(Duration::from_millis(50));
    }
}
