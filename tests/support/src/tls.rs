//! Encrypted connections to a server of ours.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::directory::give_away;
use crate::error::{Doing, Result};
use crate::options::Tls;

/// Superusers come through the socket; whoever comes from outside needs encryption and a password.
const RULES: &str = "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n";

/// Nobody listens on it now.
pub(crate) fn free_port() -> Result<u16> {
    let door = TcpListener::bind("127.0.0.1:0").doing("find a free port")?;
    door.local_addr().map(|address| address.port()).doing("find a free port")
}

/// Puts everything where the server looks by default.
pub(crate) fn set_up(data: &Path, tls: &Tls) -> Result<()> {
    let files =
        [("server.crt", &*tls.certificate), ("server.key", &tls.key), ("pg_hba.conf", RULES)];
    for (name, text) in files {
        let file = data.join(name);
        std::fs::write(&file, text).doing(format!("write {}", file.display()))?;
        let mode = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(&file, mode).doing(format!("protect {}", file.display()))?;
        give_away(&file)?;
    }
    Ok(())
}
