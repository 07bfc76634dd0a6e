//! Ports of this machine.

use std::net::TcpListener;

use pgflow_test_programs::{Doing, Result};

/// Nobody listens on it now.
pub(crate) fn free_port() -> Result<u16> {
    let door = TcpListener::bind("127.0.0.1:0").doing("find a free port")?;
    door.local_addr().map(|address| address.port()).doing("find a free port")
}
