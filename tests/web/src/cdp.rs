//! Commands of Chromium's own protocol, through its driver.

use fantoccini::wd::WebDriverCompatibleCommand;
use serde_json::{Value, json};
use url::{ParseError, Url};

/// A command, such as `Emulation.setScriptExecutionDisabled`.
#[derive(Debug)]
pub(crate) struct Cdp {
    pub(crate) command: &'static str,
    pub(crate) parameters: Value,
}

impl WebDriverCompatibleCommand for Cdp {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/goog/cdp/execute", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &Url) -> (axum::http::Method, Option<String>) {
        let body = json!({ "cmd": self.command, "params": self.parameters });
        (axum::http::Method::POST, Some(body.to_string()))
    }
}
