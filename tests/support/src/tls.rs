//! Encrypted connections to a server of ours.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use pgflow_test_programs::{Doing, Result};

use crate::directory::give_away;
use crate::options::Tls;

/// Superusers come through the socket; whoever comes from outside needs encryption and a password.
const RULES: &str = "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n";

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
