//! `pgflow serve` and `pgflow dev`, as a browser and a terminal meet them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use pgflow::{Db, RunStatus};
use pgflow_test_support::{MariaDbDatabase, TestDb};
use pgflow_worker_tests::{Fresh, Outcome};
use serde_json::Value;

use crate::place::{Scratch, each, fields, program, sums};
use crate::waits::approval;

/// A program that goes on, and what it prints. It is killed when dropped.
pub(crate) struct Running {
    child: Child,
    lines: Receiver<String>,
}

impl Running {
    pub(crate) fn start(url: &str, args: &[&str]) -> Outcome<Self> {
        Self::of(program(url, args))
    }

    pub(crate) fn of(mut program: Command) -> Outcome<Self> {
        let mut child = program.stdout(Stdio::piped()).spawn()?;
        let (send, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _ = send.send(line);
            }
        });
        Ok(Self { child, lines })
    }

    pub(crate) fn line(&self) -> Outcome<String> {
        Ok(self.lines.recv_timeout(Duration::from_mins(1))?)
    }

    /// A line, if one comes in this time.
    pub(crate) fn line_within(&self, time: Duration) -> Option<String> {
        self.lines.recv_timeout(time).ok()
    }

    /// Reads on until a line is like this.
    fn until(&self, is_it: impl Fn(&Value) -> bool) -> Outcome {
        while !is_it(&serde_json::from_str(&self.line()?)?) {}
        Ok(())
    }

    /// What it says first: where it is.
    pub(crate) fn address(&self) -> Outcome<String> {
        let said: Value = serde_json::from_str(&self.line()?)?;
        assert_eq!(fields(&said), ["database", "url"]);
        Ok(said["url"].as_str().expect("a text").trim_start_matches("http://").to_owned())
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: &str) -> Outcome {
        let pid = self.child.id().to_string();
        Command::new("sh").args(["-c", "kill -s \"$0\" \"$1\"", signal, &pid]).status()?;
        Ok(())
    }

    /// What it prints from now on, to its end.
    pub(crate) fn rest(&self) -> Vec<String> {
        self.lines.iter().collect()
    }

    /// Sends it a signal, and waits until it has ended.
    pub(crate) fn end(mut self, signal: &str) -> Outcome<i32> {
        self.signal(signal)?;
        Ok(self.child.wait()?.code().unwrap_or(-1))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

/// The number of an answer, and all of it.
pub(crate) fn ask(address: &str, request: &str) -> Outcome<(u16, String)> {
    send(address, request, "", "")
}

fn send(address: &str, request: &str, headers: &str, body: &str) -> Outcome<(u16, String)> {
    let mut stream = TcpStream::connect(address)?;
    write!(
        stream,
        "{request} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let status = answer.split(' ').nth(1).ok_or("no answer")?.parse()?;
    Ok((status, answer))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dashboard_is_served_to_look_at() -> Outcome {
    for place in each().await? {
        let run = place.db.start(sums::Flow, &vec![1]).await?;
        let running = Running::start(&place.url, &["serve", "--listen", "127.0.0.1:0", "--json"])?;
        let address = running.address()?;
        for (path, sign) in [
            ("/", "Overview"),
            ("/runs", &*run.id().to_string()),
            (&format!("/runs/{}", run.id()), "double"),
            ("/flows/sums", "double"),
            ("/workers", "Workers"),
            ("/metrics", "pgflow_tasks_ready{flow=\"sums\"} 1"),
            ("/healthz", ""),
            ("/readyz", ""),
        ] {
            let (status, text) = ask(&address, &format!("GET {path}"))?;
            assert!(status == 200 && text.contains(sign), "{path}: {text}");
        }
        if place.db.has_jobs() {
            jobs_are_served(&place.db, &address).await?;
        }
        let (status, text) = ask(&address, &format!("POST /runs/{}/cancel", run.id()))?;
        assert!((400..500).contains(&status), "{text}");
        assert_eq!(run.status().await?, RunStatus::Started, "it is read-only");
        assert_eq!(running.end("INT")?, 0, "it ends as it should");
    }
    Ok(())
}

async fn jobs_are_served(db: &Db, address: &str) -> Outcome {
    let job = db.submit_raw("page.scan", Value::Null).id("../a&b").await?;
    for (path, sign) in [
        ("/jobs", "../a&amp;b"),
        ("/job?id=..%2Fa%26b", "no worker serves `page.scan`"),
        ("/metrics", "pgflow_jobs{need=\"page.scan\",state=\"ready\"} 1"),
    ] {
        let (status, text) = ask(address, &format!("GET {path}"))?;
        assert!(status == 200 && text.contains(sign), "{path}: {text}");
    }
    for action in ["cancel", "redrive", "clear"] {
        let (status, text) = ask(address, &format!("POST /job/{action}"))?;
        assert!((400..500).contains(&status), "{action}: {text}");
    }
    assert_eq!(job.status().await?.to_string(), "READY", "it is read-only");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn actions_stay_on_this_machine() -> Outcome {
    let place = Fresh::sqlite().await?;
    for what in ["--actions", "--hooks"] {
        let refused = ["serve", "--listen", "0.0.0.0:0", what];
        let ran = crate::place::pgflow(&place.url, &refused).await;
        assert!(ran.code() == 2 && ran.stderr().contains("auth"), "{}", ran.text());
    }
    Ok(())
}

/// The first line of what a program says beside its work, if it says any before it ends.
fn said_by(mut program: Command) -> Outcome<(Running, BufReader<std::process::ChildStderr>)> {
    program.stderr(Stdio::piped());
    let mut running = Running::of(program)?;
    let stderr = running.child.stderr.take().ok_or("it is piped")?;
    Ok((running, BufReader::new(stderr)))
}

#[tokio::test(flavor = "multi_thread")]
async fn who_serves_for_others_is_told_what_they_see() -> Outcome {
    let place = Fresh::sqlite().await?;
    place.db.register(sums::Flow).await?;
    let run = place.db.start(sums::Flow, &vec![4711]).await?.id().to_string();
    let page = format!("GET /runs/{run}");
    for (listen, option, is_told) in [
        ("0.0.0.0:0", None, true),
        ("0.0.0.0:0", Some("--hide-payloads"), false),
        ("localhost:0", None, false),
    ] {
        let mut serve = vec!["serve", "--json", "--listen", listen];
        serve.extend(option);
        let (running, mut stderr) = said_by(program(&place.url, &serve))?;
        let address = running.address()?.replace("0.0.0.0", "127.0.0.1");
        let (status, text) = ask(&address, &page)?;
        assert_eq!((status, text.contains("4711")), (200, option.is_none()), "{listen}: {text}");
        assert_eq!(running.end("TERM")?, 0);
        let mut said = String::new();
        stderr.read_to_string(&mut said)?;
        assert_eq!(said.contains("sees everything"), is_told, "{listen} {option:?}: {said}");
    }
    Ok(())
}

/// What a webhook of this key is answered.
fn answer(address: &str, token: &str, key: &str, body: &str) -> Outcome<(u16, String)> {
    send(
        address,
        &format!("POST /hooks/{token}"),
        &format!("content-type: application/json\r\nidempotency-key: {key}\r\n"),
        body,
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_are_served_to_programs() -> Outcome {
    for place in [Fresh::sqlite().await?, Fresh::postgres().await?, Fresh::mysql().await?] {
        let worker = place.work(approval::Flow).await?;
        let run = place.db.start(approval::Flow, 7).await?;
        let token = crate::waits::token(&place).await?;
        let serve = ["serve", "--listen", "127.0.0.1:0", "--json"];
        let closed = Running::start(&place.url, &serve)?;
        assert_eq!(answer(&closed.address()?, &token, "a", "7")?.0, 404, "nobody asked for hooks");
        let running = Running::start(&place.url, &[&serve[..], &["--hooks"]].concat())?;
        let address = running.address()?;
        for (key, body, status, text) in [
            ("a", "\"seven\"", 422, "path"),
            ("b", "8", 200, "delivered"),
            ("b", "8", 200, "duplicate"),
            ("c", "9", 410, "nobody waits for this"),
        ] {
            let (given, said) = answer(&address, &token, key, body)?;
            assert!(given == status && said.contains(text), "{body}: {said}");
        }
        assert_eq!(run.output().await?.asked, 8);
        assert_eq!(running.end("TERM")?, 0);
        worker.stop().await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn one_terminal_is_enough_for_development() -> Outcome {
    let (postgres, scratch) = (TestDb::empty().await, Scratch::new("dev")?);
    let mysql = MariaDbDatabase::new().await;
    // Empty databases, and a file that is not there yet.
    for url in [postgres.url(), scratch.sqlite("app.db"), mysql.url()] {
        let running = Running::start(&url, &["dev", "--listen", "127.0.0.1:0", "--json"])?;
        let address = running.address()?;
        let db = Db::connect(&url).await?;
        db.register(sums::Flow).await?;
        let run = db.start(sums::Flow, &vec![1]).await?.id().to_string();
        let event: Value = serde_json::from_str(&running.line()?)?;
        assert_eq!((&event["event"], event["run"].as_str()), (&"run:started".into(), Some(&*run)));
        let job = db.submit_raw("page.scan", Value::Null).id("page-7").await?;
        running.until(|line| line["job"] == "page-7" && line["status"] == "READY")?;
        job.cancel("not needed").await?;
        running.until(|line| line["job"] == "page-7" && line["status"] == "cancelled")?;
        let (status, text) = ask(&address, &format!("GET /runs/{run}"))?;
        assert!(status == 200 && text.contains("/cancel"), "a button: {text}");
        assert_eq!(running.end("TERM")?, 0, "it ends as it should");
    }
    Ok(())
}
