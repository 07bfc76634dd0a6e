//! What is loaded once for all messages of a claim.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use pgflow_model::with_causes;
use serde_json::Value;
use tokio::sync::OnceCell;

use super::code::BoxFuture;
use crate::worker::tidy;
use crate::{Error, Result};

/// What was loaded, of whatever type.
pub(crate) type Shared = Arc<dyn Any + Send + Sync>;

/// Loads what messages with these payloads have in common.
pub(crate) type Preload = Arc<dyn Fn(Vec<Value>) -> BoxFuture<Result<Shared>> + Send + Sync>;

/// What the messages of one claim have in common. The first attempt that asks loads it, and the others wait for that.
pub(crate) struct Loading {
    code: Preload,
    payloads: Vec<Value>,
    loaded: OnceCell<Result<Shared, String>>,
}

impl fmt::Debug for Loading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loading").field("messages", &self.payloads.len()).finish_non_exhaustive()
    }
}

impl Loading {
    pub(crate) fn new(code: Preload, payloads: Vec<Value>) -> Arc<Self> {
        Arc::new(Self { code, payloads, loaded: OnceCell::new() })
    }

    /// What was loaded. An error is that of every message of the claim.
    pub(crate) async fn get(&self) -> Result<Shared> {
        let load = || async {
            let loaded = (self.code)(self.payloads.clone()).await;
            loaded.map_err(|error| tidy(&format!("preload: {}", with_causes(error.as_source()))))
        };
        self.loaded.get_or_init(load).await.clone().map_err(Error::from)
    }
}
