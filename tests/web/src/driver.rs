//! A `chromedriver` of this process, gone with it.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use pgflow_test_programs::{CHROMEDRIVER, Watchdog};

use crate::Outcome;

/// What drives the browser, and where the browser's files are.
pub(crate) struct Driver {
    pub(crate) url: String,
    pub(crate) dir: PathBuf,
    /// Ends the browser too, whose command line names the directory.
    _watchdog: Watchdog,
    _process: Child,
}

impl Driver {
    pub(crate) fn start() -> Outcome<Self> {
        let program = CHROMEDRIVER.directories()?[0].join("chromedriver");
        let dir = std::env::temp_dir().join(format!("pgflow-web-{}", std::process::id()));
        std::fs::create_dir_all(&dir)?;
        let watchdog = Watchdog::watch(&dir)?;
        let mut process = Command::new(program)
            .args(["--port=0".into(), format!("--log-path={}/driver.log", dir.display())])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let output = process.stdout.take().ok_or("the driver says nothing")?;
        // `ChromeDriver was started successfully on port 40123.`
        let port = BufReader::new(output).lines().map_while(Result::ok).find_map(|line| {
            line.rsplit_once("successfully on port ")?.1.trim_end_matches('.').parse::<u16>().ok()
        });
        let url = format!("http://127.0.0.1:{}", port.ok_or("the driver did not start")?);
        Ok(Self { url, dir, _watchdog: watchdog, _process: process })
    }
}
