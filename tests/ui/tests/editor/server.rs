//! A rust-analyzer on a pipe: just enough of the language server protocol to ask it questions.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use pgflow_ui_tests::Scratch;
use serde_json::{Value, json};

/// Long enough for the first build of all dependencies on a slow machine.
const PATIENCE: Duration = Duration::from_mins(5);

/// A running rust-analyzer that has loaded a project.
pub(crate) struct Server {
    process: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    last_id: u64,
}

impl Server {
    /// Starts it on a project and waits until it has nothing left to do.
    pub(crate) fn start(binary: &Path, project: &Scratch) -> Self {
        let mut process = Command::new(binary)
            .current_dir(&project.root)
            .env("CARGO_TARGET_DIR", &project.target)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{} cannot be started: {error}", binary.display()));
        let to = process.stdin.take().expect("it was piped");
        let from = messages(BufReader::new(process.stdout.take().expect("it was piped")));
        let mut server = Self { process, to, from, last_id: 0 };
        server.request("initialize", &capabilities(&project.root));
        server.notify("initialized", &json!({}));
        server.wait_until_quiet();
        server
    }

    /// Asks, and waits for the answer.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.receive();
            if message["id"] == json!(id) && message.get("method").is_none() {
                assert!(message.get("error").is_none(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
        }
    }

    /// Tells it something.
    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Waits until it says that it is healthy and idle.
    pub(crate) fn wait_until_quiet(&mut self) {
        loop {
            let message = self.receive();
            let status = &message["params"];
            if message["method"] == "experimental/serverStatus" && status["quiescent"] == true {
                assert_ne!(status["health"], "error", "{status}");
                return;
            }
        }
    }

    fn receive(&mut self) -> Value {
        let message = self.from.recv_timeout(PATIENCE).expect("rust-analyzer answers in time");
        // Its own questions, such as for configuration, get an empty answer.
        if message.get("method").is_some() && message.get("id").is_some() {
            self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": null }));
        }
        message
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        write!(self.to, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("it listens");
        self.to.flush().expect("it listens");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn capabilities(root: &Path) -> Value {
    json!({
        "processId": null,
        "rootUri": format!("file://{}", root.display()),
        "capabilities": {
            "experimental": { "serverStatusNotification": true },
            "textDocument": { "diagnostic": {}, "hover": { "contentFormat": ["plaintext"] } },
            "workspace": { "workspaceEdit": { "documentChanges": true } },
        },
        "initializationOptions": { "checkOnSave": false, "cachePriming": { "enable": false } },
    })
}

fn messages(mut stdout: BufReader<impl std::io::Read + Send + 'static>) -> Receiver<Value> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        while let Some(message) = message(&mut stdout) {
            if sender.send(message).is_err() {
                break;
            }
        }
    });
    receiver
}

fn message(stdout: &mut BufReader<impl std::io::Read>) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut header = String::new();
        if stdout.read_line(&mut header).ok()? == 0 {
            return None;
        }
        let header = header.trim();
        if header.is_empty() {
            break;
        }
        if let Some(bytes) = header.strip_prefix("Content-Length: ") {
            length = bytes.parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    stdout.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
