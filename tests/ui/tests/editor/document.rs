//! A crate with one file, opened in the editor, with the cursor wherever a text says.

use std::path::{Path, PathBuf};

use pgflow_ui_tests::Scratch;
use serde_json::{Value, json};

use crate::server::Server;

/// An open file.
pub(crate) struct Document {
    path: PathBuf,
    text: String,
    server: Server,
}

impl Document {
    /// Writes a crate below `scratch` and opens its only file.
    pub(crate) fn open(binary: &Path, scratch: &Path, name: &str, text: &str) -> Self {
        let scratch = Scratch::write(scratch, name, text);
        let mut server = Server::start(binary, &scratch);
        let path = scratch.file;
        let item = json!({
            "uri": uri(&path), "languageId": "rust", "version": 1, "text": text,
        });
        server.notify("textDocument/didOpen", &json!({ "textDocument": item }));
        Self { path, text: text.to_owned(), server }
    }

    /// The lines that "go to definition" leads to.
    pub(crate) fn definition(&mut self, cursor: &str) -> Vec<String> {
        let found = self.ask("textDocument/definition", cursor, json!({}));
        self.lines(&found)
    }

    /// The lines that mention what is under the cursor.
    pub(crate) fn references(&mut self, cursor: &str) -> Vec<String> {
        let context = json!({ "context": { "includeDeclaration": true } });
        let found = self.ask("textDocument/references", cursor, context);
        self.lines(&found)
    }

    /// The lines that a rename changes.
    pub(crate) fn rename(&mut self, cursor: &str, to: &str) -> Vec<String> {
        let edit = self.ask("textDocument/rename", cursor, json!({ "newName": to }));
        self.lines(&edit["documentChanges"][0]["edits"])
    }

    /// What the editor shows for it.
    pub(crate) fn hover(&mut self, cursor: &str) -> String {
        let hover = self.ask("textDocument/hover", cursor, json!({}));
        hover["contents"]["value"].as_str().unwrap_or_default().to_owned()
    }

    /// What the editor offers there.
    pub(crate) fn completions(&mut self, cursor: &str) -> Vec<String> {
        let found = self.ask("textDocument/completion", cursor, json!({}));
        let items = found["items"].as_array().or(found.as_array()).cloned().unwrap_or_default();
        let label = |item: &Value| Some(item["label"].as_str()?.to_owned());
        items.iter().filter_map(label).collect()
    }

    /// Problems that rust-analyzer sees without asking the compiler.
    pub(crate) fn problems(&mut self) -> Vec<String> {
        let params = json!({ "textDocument": { "uri": uri(&self.path) } });
        let report = self.server.request("textDocument/diagnostic", &params);
        let items = report["items"].as_array().cloned().unwrap_or_default();
        items.iter().filter_map(|item| Some(item["message"].as_str()?.to_owned())).collect()
    }

    /// Asks about the place marked `|` in the one line that holds `cursor` without the mark.
    fn ask(&mut self, method: &str, cursor: &str, mut params: Value) -> Value {
        params["textDocument"] = json!({ "uri": uri(&self.path) });
        params["position"] = self.position(cursor);
        self.server.request(method, &params)
    }

    fn position(&self, cursor: &str) -> Value {
        let (before, after) = cursor.split_once('|').expect("a cursor is marked");
        let wanted = format!("{before}{after}");
        let mut lines = self.text.lines().enumerate().filter(|(_, line)| line.contains(&wanted));
        let (line, text) = lines.next().unwrap_or_else(|| panic!("no line has `{wanted}`"));
        assert!(lines.next().is_none(), "several lines have `{wanted}`");
        let start = text.find(&wanted).expect("it was found above");
        json!({ "line": line, "character": start + before.len() })
    }

    fn lines(&self, places: &Value) -> Vec<String> {
        let places = places.as_array().cloned().unwrap_or_default();
        let mut lines: Vec<String> = places.iter().map(|place| self.line(place)).collect();
        lines.sort();
        lines
    }

    /// The line of a place in this document, or the name of the file it is in.
    fn line(&self, place: &Value) -> String {
        let file = place["targetUri"].as_str().or(place["uri"].as_str());
        if let Some(file) = file.filter(|file| *file != uri(&self.path)) {
            return file.rsplit_once("/library/").map_or(file, |(_, file)| file).to_owned();
        }
        let range = if place["targetSelectionRange"].is_object() {
            &place["targetSelectionRange"]
        } else {
            &place["range"]
        };
        let line = range["start"]["line"].as_u64().and_then(|line| usize::try_from(line).ok());
        let line = line.and_then(|line| self.text.lines().nth(line));
        line.expect("the place is in the file").trim().to_owned()
    }
}

fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}
