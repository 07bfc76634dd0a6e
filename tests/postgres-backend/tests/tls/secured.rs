//! A server that takes encrypted connections only.

use std::path::Path;

use pgflow_test_support::{Server, ServerOptions, TestDb, Tls};
use rcgen::{BasicConstraints, Certificate, CertificateParams, IsCa, Issuer, KeyPair};

/// Of the user `app`.
pub(crate) const PASSWORD: &str = "hunter2";

/// A server whose certificate is for `localhost`, signed by a root of its own.
pub(crate) struct Secured {
    pub(crate) server: Server,
    root: String,
}

impl Secured {
    pub(crate) fn start() -> Self {
        let (root, issuer) = root();
        let (key, params) = (key(), CertificateParams::new(vec!["localhost".into()]));
        let signed = params.unwrap().signed_by(&key, &issuer).unwrap();
        let tls = Some(Tls { certificate: signed.pem(), key: key.serialize_pem() });
        let server = Server::start(ServerOptions { tls, ..ServerOptions::default() }).unwrap();
        Self { server, root: root.pem() }
    }

    /// A database for the user `app`.
    pub(crate) async fn database(&self) -> TestDb {
        let database = TestDb::new_on(&self.server).await;
        let sql = format!("create role app superuser login password '{PASSWORD}'");
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&database.pool).await.unwrap();
        database
    }

    /// How `app` gets to a database.
    pub(crate) fn url(&self, database: &TestDb, host: &str, options: &str) -> String {
        let port = self.server.port().unwrap();
        format!("postgres://app:{PASSWORD}@{host}:{port}/{}?{options}", database.name())
    }

    /// The root that signed the server's certificate, as a file beside the server's own.
    pub(crate) fn root(&self, database: &TestDb) -> String {
        write(&database.socket_dir().join("root.crt"), &self.root)
    }
}

/// Another root, which has nothing to do with the server.
pub(crate) fn foreign_root(database: &TestDb) -> String {
    write(&database.socket_dir().join("foreign.crt"), &root().0.pem())
}

fn root() -> (Certificate, Issuer<'static, KeyPair>) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = key();
    let root = params.self_signed(&key).unwrap();
    (root, Issuer::new(params, key))
}

fn key() -> KeyPair {
    KeyPair::generate().unwrap()
}

fn write(path: &Path, text: &str) -> String {
    std::fs::write(path, text).unwrap();
    path.display().to_string()
}
