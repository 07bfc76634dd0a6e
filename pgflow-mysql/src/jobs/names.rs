//! Names of jobs, needs and keys, which are bytes for the server.

use pgflow_machine::job::JobId;
use serde::Serialize;

use crate::error::{Result, broken};

/// A name, as rows have it: digits, for `unhex`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name<'n>(pub(crate) &'n str);

impl Serialize for Name<'_> {
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        use std::fmt::Write as _;

        let mut digits = String::with_capacity(self.0.len() * 2);
        for byte in self.0.bytes() {
            // Writing to a string does not fail.
            let _ = write!(digits, "{byte:02x}");
        }
        serializer.serialize_str(&digits)
    }
}

impl<'n> From<&'n JobId> for Name<'n> {
    fn from(id: &'n JobId) -> Self {
        Self(id.as_str())
    }
}

/// A name that was read.
pub(crate) fn text(bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(broken)
}

pub(crate) fn id(bytes: Vec<u8>) -> Result<JobId> {
    text(bytes).map(JobId::from_stored)
}
