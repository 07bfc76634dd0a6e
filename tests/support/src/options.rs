//! How a server is set up.

/// Settings of a [`Server`](crate::Server); the default is fast and forgetful.
#[derive(Debug, Clone, Default)]
pub struct ServerOptions {
    /// Survive a crash: real commits, data on disk rather than in memory.
    pub fsync: bool,
    /// A major version other than the machine's own.
    pub major: Option<u32>,
    /// More lines for `postgresql.conf`.
    pub extra: Vec<(String, String)>,
    /// Variables in the server's environment.
    pub env: Vec<(String, String)>,
    /// Listen on a port of 127.0.0.1 too, for encrypted connections with passwords only.
    pub tls: Option<Tls>,
}

/// What a server shows to its clients, as PEM.
#[derive(Clone)]
pub struct Tls {
    /// Its certificate.
    pub certificate: String,
    /// The key to it.
    pub key: String,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls")
    }
}

impl ServerOptions {
    /// The lines for `postgresql.conf`.
    pub(crate) fn conf(&self, socket_dir: &str, port: u16) -> String {
        let on = if self.fsync { "on" } else { "off" };
        let mut lines = vec![
            format!("unix_socket_directories = '{socket_dir}'"),
            format!("port = {port}"),
            // A socket in a directory of our own cannot clash with anybody; a port can.
            format!("listen_addresses = '{}'", if self.tls.is_some() { "127.0.0.1" } else { "" }),
            format!("ssl = {}", if self.tls.is_some() { "on" } else { "off" }),
            "max_connections = 200".into(),
            "shared_buffers = 128MB".into(),
            "max_wal_size = 512MB".into(),
            "deadlock_timeout = 200ms".into(),
            // In our directory, where the watchdog deletes it; on disk it would be slow.
            format!("dynamic_shared_memory_type = {}", if self.fsync { "posix" } else { "mmap" }),
            format!("fsync = {on}"),
            format!("synchronous_commit = {on}"),
            format!("full_page_writes = {on}"),
            // With a database per test it would be at work all the time, for tables that live for seconds.
            format!("autovacuum = {on}"),
        ];
        lines.extend(self.extra.iter().map(|(key, value)| format!("{key} = '{value}'")));
        lines.join("\n") + "\n"
    }
}
