//! One real Chromium for all tests of the process, which take turns.

use std::sync::{LazyLock, OnceLock};
use std::time::Duration;

use fantoccini::elements::Element;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use pgflow_test_programs::CHROMIUM;
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;
use tokio::sync::Mutex;

use crate::cdp::Cdp;
use crate::driver::Driver;
use crate::{Outcome, shot};

/// Far longer than anything takes, on the busiest machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// The session lives as long as the process, so what drives it does as well.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Runtime::new().expect("there is no runtime for the browser"));
static DRIVER: OnceLock<Driver> = OnceLock::new();
static SESSION: Mutex<Option<Browser>> = Mutex::const_new(None);

/// Runs a test with the browser for itself: a window of 1280 × 900, JavaScript on, light, no cookies.
pub fn drive(test: impl AsyncFnOnce(&Browser) -> Outcome) -> Outcome {
    RUNTIME.block_on(async {
        let mut session = SESSION.lock().await;
        if session.is_none() {
            *session = Some(Browser::open().await?);
        }
        let browser = session.as_ref().ok_or("there is no browser")?;
        browser.reset().await?;
        let outcome = test(browser).await;
        browser.leave().await?;
        outcome
    })
}

/// The browser.
#[derive(Debug)]
pub struct Browser(Client);

impl Browser {
    async fn open() -> Outcome<Self> {
        let driver = Driver::start()?;
        let driver = DRIVER.get_or_init(|| driver);
        let binary = CHROMIUM.directories()?[0].join("chromium");
        let profile = format!("--user-data-dir={}/profile", driver.dir.display());
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            &profile,
        ];
        let options = json!({ "binary": binary, "args": arguments });
        let mut capabilities = Map::new();
        capabilities.insert("goog:chromeOptions".into(), options);
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities)
            .connect(&driver.url)
            .await?;
        Ok(Self(client))
    }

    async fn cdp(&self, command: &'static str, parameters: Value) -> Outcome {
        self.0.issue_cmd(Cdp { command, parameters }).await?;
        Ok(())
    }

    async fn reset(&self) -> Outcome {
        self.0.delete_all_cookies().await?;
        self.scripts(true).await?;
        self.scheme("light").await?;
        self.window(1280, 900).await
    }

    /// Away from the page, so that nothing of it is left when its server stops.
    async fn leave(&self) -> Outcome {
        self.first_tab().await?;
        Ok(self.0.goto("about:blank").await?)
    }

    /// Goes to a new tab; nobody sees the others meanwhile.
    pub async fn new_tab(&self) -> Outcome {
        let tab = self.0.new_window(true).await?.handle;
        Ok(self.0.switch_to_window(tab).await?)
    }

    /// Goes back to the first tab, and closes the others.
    pub async fn first_tab(&self) -> Outcome {
        let tabs = self.0.windows().await?;
        let (first, others) = tabs.split_first().ok_or("there is no tab")?;
        for other in others {
            self.0.switch_to_window(other.clone()).await?;
            self.0.close_window().await?;
        }
        Ok(self.0.switch_to_window(first.clone()).await?)
    }

    /// Whether pages may run scripts.
    pub async fn scripts(&self, on: bool) -> Outcome {
        self.cdp("Emulation.setScriptExecutionDisabled", json!({ "value": !on })).await
    }

    /// `light` or `dark`.
    pub async fn scheme(&self, scheme: &str) -> Outcome {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.cdp("Emulation.setEmulatedMedia", json!({ "features": features })).await
    }

    /// How large the page is.
    pub async fn window(&self, width: u32, height: u32) -> Outcome {
        let parameters = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.cdp("Emulation.setDeviceMetricsOverride", parameters).await
    }

    /// Goes to a page.
    pub async fn goto(&self, url: &str) -> Outcome {
        Ok(self.0.goto(url).await?)
    }

    /// Where it is.
    pub async fn url(&self) -> Outcome<String> {
        Ok(self.0.current_url().await?.to_string())
    }

    /// The text of what a selector finds first. A page that is live may replace it between the two questions.
    pub async fn text(&self, selector: &str) -> Outcome<String> {
        loop {
            match self.find(selector).await?.text().await {
                Err(error) if error.is_stale_element_reference() => {}
                text => return Ok(text?),
            }
        }
    }

    /// What a selector finds first. It may still have to come: a click returns before its page is there.
    async fn find(&self, selector: &str) -> Outcome<Element> {
        Ok(self.0.wait().at_most(PATIENCE).for_element(Locator::Css(selector)).await?)
    }

    /// How many there are.
    pub async fn count(&self, selector: &str) -> Outcome<usize> {
        Ok(self.0.find_all(Locator::Css(selector)).await?.len())
    }

    /// Clicks on what a selector finds first.
    pub async fn click(&self, selector: &str) -> Outcome {
        Ok(self.find(selector).await?.click().await?)
    }

    /// Clicks on what leads to another page, and waits until this one is gone: what is asked next is asked of the other.
    pub async fn follow(&self, selector: &str) -> Outcome {
        let page = self.find("html").await?;
        self.click(selector).await?;
        let deadline = tokio::time::Instant::now() + PATIENCE;
        while page.tag_name().await.is_ok() {
            if tokio::time::Instant::now() > deadline {
                return Err(format!("a click on {selector} led nowhere").into());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// Types into a field.
    pub async fn type_into(&self, selector: &str, text: &str) -> Outcome {
        Ok(self.find(selector).await?.send_keys(text).await?)
    }

    /// Presses a key, as the protocol `WebDriver` spells it.
    pub async fn press(&self, key: &str) -> Outcome {
        Ok(self.0.active_element().await?.send_keys(key).await?)
    }

    /// An attribute of what a selector finds first.
    pub async fn attribute(&self, selector: &str, name: &str) -> Outcome<Option<String>> {
        Ok(self.find(selector).await?.attr(name).await?)
    }

    /// What an expression of JavaScript gives.
    pub async fn evaluate(&self, expression: &str) -> Outcome<Value> {
        Ok(self.0.execute(&format!("return {expression}"), Vec::new()).await?)
    }

    /// What the browser asks somebody, if it does.
    pub async fn alert(&self) -> Option<String> {
        self.0.get_alert_text().await.ok()
    }

    /// Waits until an expression of JavaScript is true.
    pub async fn until(&self, expression: &str) -> Outcome {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        while self.evaluate(expression).await? != Value::Bool(true) {
            if tokio::time::Instant::now() > deadline {
                let text = self.text("body").await.unwrap_or_default();
                return Err(
                    format!("waited in vain for {expression}; the page says:\n{text}").into()
                );
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// Keeps a picture of the window, below the target directory.
    pub async fn picture(&self, name: &str) -> Outcome {
        shot::keep(name, &self.0.screenshot().await?)
    }
}
