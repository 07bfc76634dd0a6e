//! What README and documentation show as the compiler's words is what the compiler says.

use std::fs;
use std::path::Path;

use pgflow_ui_tests::{Many, programs};

/// The blocks of a document that show an error.
fn shown(document: &Path) -> Vec<String> {
    let text = fs::read_to_string(document).expect("the document is there");
    let blocks = text.split("```text\n").skip(1);
    let blocks = blocks.filter_map(|block| block.split("```").next());
    blocks.filter(|block| block.starts_with("error")).map(normal).collect()
}

/// Without places and numbers of lines: the document's program is longer than what it shows.
fn normal(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = line.trim_end();
        let line = line.trim_start_matches(|it: char| it == ' ' || it.is_ascii_digit());
        if line.starts_with("--> ") { "-->" } else { line }
    });
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[test]
fn documents_show_what_the_compiler_says() {
    let all: Vec<_> = programs().into_iter().filter(|it| it.name.contains("shown_in")).collect();
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ui");
    let sources = all.iter().map(|it| (it.name.as_str(), it.source.as_str()));
    let found = Many::write(&scratch, "documented", sources).errors();
    let said: Vec<_> = found.values().flatten().map(|it| normal(&it.rendered)).collect();
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut count = 0;
    for document in ["README.md", "docs/typed-flow.md"] {
        for block in shown(&repository.join(document)) {
            let rendered: String =
                found.values().flatten().map(|it| it.rendered.as_str()).collect();
            assert!(
                said.contains(&block),
                "{document} shows\n{block}\nthe compiler says\n{rendered}"
            );
            count += 1;
        }
    }
    assert_eq!(count, all.len(), "every such program is shown in a document");
}
