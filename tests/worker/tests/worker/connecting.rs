//! Databases that are not up yet, or not at all.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use pgflow::{ConnectError, Db};
use pgflow_test_support::{MariaDb, Server};
use pgflow_worker_tests::Outcome;
use tokio::net::{TcpListener, TcpStream};

/// Longer than [`Db::connect`] asks.
const LATE: Duration = Duration::from_secs(15);
const SOON: Duration = Duration::from_secs(1);
/// What Postgres calls its socket.
const SOCKET: &str = ".s.PGSQL.5432";

/// A place at which nobody answers until somebody is let in.
struct Door {
    url: String,
    way: Way,
}

/// How a server is reached.
enum Way {
    /// From a port to another.
    Port(SocketAddr, u16),
    /// From a directory to a socket in another.
    Socket(PathBuf, PathBuf),
}

impl Door {
    /// Doors to a Postgres and a MariaDB.
    async fn all() -> Outcome<[Self; 2]> {
        let postgres = Server::shared().await;
        let url = postgres.url("postgres");
        let postgres = match (url.split_once("host=/"), postgres.port()) {
            (Some((_, rest)), _) => {
                Self::to_socket(&url, &format!("/{}", rest.split('&').next().unwrap_or(rest)))?
            }
            (None, Some(port)) => Self::to_port(&url, port).await?,
            (None, None) => return Err(format!("no way to {url}").into()),
        };
        let mariadb = MariaDb::shared().await;
        Ok([postgres, Self::to_port(&mariadb.url("mysql"), mariadb.port()).await?])
    }

    async fn to_port(url: &str, port: u16) -> Outcome<Self> {
        let address = TcpListener::bind("127.0.0.1:0").await?.local_addr()?;
        let (old, new) = (format!(":{port}/"), format!(":{}/", address.port()));
        assert!(url.contains(&old), "{url}");
        Ok(Self { url: url.replace(&old, &new), way: Way::Port(address, port) })
    }

    fn to_socket(url: &str, directory: &str) -> Outcome<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let door =
            std::env::temp_dir().join(format!("pgflow-door-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&door)?;
        let url = url.replace(directory, &door.display().to_string());
        Ok(Self { url, way: Way::Socket(door, directory.into()) })
    }

    /// Whoever knocks after this much time is led to the server.
    fn open_after(&self, time: Duration) {
        match &self.way {
            &Way::Port(address, server) => tokio::spawn(async move {
                tokio::time::sleep(time).await;
                lead(address, server).await.expect("the port is still free");
            }),
            Way::Socket(door, server) => {
                let (door, server) = (door.join(SOCKET), server.join(SOCKET));
                tokio::spawn(async move {
                    tokio::time::sleep(time).await;
                    std::os::unix::fs::symlink(server, door).expect("a way to the socket");
                })
            }
        };
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        if let Way::Socket(door, _) = &self.way {
            _ = std::fs::remove_dir_all(door);
        }
    }
}

async fn lead(address: SocketAddr, server: u16) -> std::io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    loop {
        let (mut client, _) = listener.accept().await?;
        tokio::spawn(async move {
            let mut server = TcpStream::connect(("127.0.0.1", server)).await?;
            tokio::io::copy_bidirectional(&mut client, &mut server).await
        });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_comes_up_soon_is_connected_to() -> Outcome {
    for door in Door::all().await? {
        door.open_after(SOON);
        tokio::time::timeout(Duration::from_mins(1), Db::connect(&door.url)).await??;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_comes_up_late_can_be_waited_for() -> Outcome {
    let doors = Door::all().await?;
    let waiting = doors.iter().map(|door| {
        door.open_after(LATE);
        tokio::time::timeout(Duration::from_mins(2), Db::connect_when_up(&door.url))
    });
    let began = Instant::now();
    for found in join_all(waiting).await {
        found??;
    }
    assert!(began.elapsed() >= LATE, "nobody was let in before");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_database_that_is_down_the_error_says_why() -> Outcome {
    let doors = Door::all().await?;
    for answer in join_all(doors.iter().map(|door| Db::connect(&door.url))).await {
        let error = answer.expect_err("nobody is there");
        assert!(matches!(error, ConnectError::Backend { .. }), "{error:?}");
        let (text, whys) = (error.to_string(), ["Connection refused", "No such file or directory"]);
        assert!(whys.iter().any(|why| text.contains(why)), "{text}");
    }
    Ok(())
}

/// Waiting would not help.
#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_does_not_exist_is_not_waited_for() -> Outcome {
    let mut urls = vec!["sqlite:/no/such/directory/app.db".to_owned()];
    urls.push(Server::shared().await.url("no_such_database"));
    urls.push(MariaDb::shared().await.url("no_such_database"));
    for url in urls {
        let asked = tokio::time::timeout(Duration::from_mins(1), Db::connect_when_up(&url)).await?;
        let error = asked.expect_err("it is not there");
        assert!(matches!(error, ConnectError::Refused { .. }), "{url}: {error:?}");
    }
    Ok(())
}
