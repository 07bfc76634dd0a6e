//! One Postgres server.

use std::path::PathBuf;
use std::sync::Arc;

use pgflow_test_programs::{Error, Result, major_of_environment};
use tokio::sync::OnceCell;

use crate::binaries::Binaries;
use crate::cluster::Cluster;
use crate::external;
use crate::options::ServerOptions;

/// A running server; it ends with this value, or with the process.
#[derive(Debug)]
pub struct Server {
    kind: Kind,
    version_num: u32,
    pub(crate) template: Arc<OnceCell<String>>,
}

#[derive(Debug)]
enum Kind {
    Own(Cluster),
    External(external::Url),
}

static SHARED: OnceCell<Server> = OnceCell::const_new();

impl Server {
    /// The server of this process, started by whoever asks first.
    ///
    /// # Panics
    /// When no server can be had: a test must not pass without one.
    pub async fn shared() -> &'static Self {
        SHARED
            .get_or_init(|| async {
                if let Some(url) = external::url() {
                    let version_num = url.version_num().await;
                    return Self::new(Kind::External(url), version_num);
                }
                let start = || Self::start(ServerOptions::default());
                let started = tokio::task::spawn_blocking(start).await;
                started.expect("starting the server panicked").unwrap_or_else(|error| fail(&error))
            })
            .await
    }

    /// Starts a server of one's own.
    #[allow(clippy::needless_pass_by_value)] // Options are made for one call.
    pub fn start(options: ServerOptions) -> Result<Self> {
        let major = options.major.map_or_else(major_of_environment, |major| Ok(Some(major)))?;
        Self::start_with(Binaries::find(major)?, &options)
    }

    /// Starts a server with these programs.
    #[allow(clippy::needless_pass_by_value)] // Found for one call.
    pub fn start_with(binaries: Binaries, options: &ServerOptions) -> Result<Self> {
        let version_num = binaries.version_num()?;
        let start = || -> Result<Cluster> {
            let cluster = Cluster::create(binaries.clone(), options)?;
            cluster.start()?;
            Ok(cluster)
        };
        // Somebody else may have taken the port meanwhile.
        let again = |error| if options.tls.is_some() { start() } else { Err(error) };
        Ok(Self::new(Kind::Own(start().or_else(again)?), version_num))
    }

    /// Where a server with [`tls`](ServerOptions::tls) listens.
    pub fn port(&self) -> Option<u16> {
        self.cluster().map(|cluster| cluster.port)
    }

    fn new(kind: Kind, version_num: u32) -> Self {
        Self { kind, version_num, template: Arc::default() }
    }

    /// How to reach one of its databases, as a superuser.
    pub fn url(&self, db: &str) -> String {
        match &self.kind {
            Kind::Own(cluster) => {
                let (dir, port) = (cluster.dir.display(), cluster.port);
                format!("postgresql:///{db}?host={dir}&port={port}&user=postgres")
            }
            Kind::External(url) => url.with_database(db),
        }
    }

    /// Ends the server and all its processes at once, as a power cut would.
    ///
    /// # Panics
    /// When the server is not ours.
    pub fn kill9(&self) {
        self.own_cluster().kill9();
    }

    /// Starts it again after [`kill9`](Self::kill9), or stops it in an orderly way before.
    ///
    /// # Panics
    /// When the server is not ours.
    pub fn restart(&mut self) -> Result<()> {
        self.own_cluster().restart()
    }

    /// As `server_version_num` says: 150018 is 15.18.
    pub fn version_num(&self) -> u32 {
        self.version_num
    }

    /// The path of a client program such as `psql`, from the server's own directory or the PATH.
    pub fn program(&self, name: &str) -> PathBuf {
        let own = self.cluster().map(|cluster| cluster.binaries.program(name));
        own.filter(|path| path.is_file())
            .or_else(|| Binaries::find(None).ok().map(|found| found.program(name)))
            .filter(|path| path.is_file())
            .unwrap_or_else(|| PathBuf::from(name))
    }

    /// Whether other processes may use the server too.
    pub(crate) fn is_external(&self) -> bool {
        matches!(self.kind, Kind::External(_))
    }

    /// Whether a crash of it loses data: nothing waits for the disk.
    pub(crate) fn is_forgetful(&self) -> bool {
        self.cluster().is_some_and(|cluster| cluster.is_forgetful)
    }

    fn own_cluster(&self) -> &Cluster {
        self.cluster().expect("the server of PGFLOW_TEST_POSTGRES_URL is not ours to stop")
    }

    fn cluster(&self) -> Option<&Cluster> {
        match &self.kind {
            Kind::Own(cluster) => Some(cluster),
            Kind::External(_) => None,
        }
    }
}

pub(crate) fn fail(error: &Error) -> ! {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    panic!("{error}{}", cause.unwrap_or_default())
}
