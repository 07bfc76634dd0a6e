//! The example does what it says, also when one of its processes is killed.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

#[test]
fn three_processes_of_which_one_is_killed_index_everything_once() {
    let dir = std::env::temp_dir().join(format!("pgflow-embeddings-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a directory");
    let database = format!("sqlite:{}", dir.join("embeddings.db").display());
    let example = || {
        let mut example = Command::new(env!("CARGO_BIN_EXE_embeddings"));
        example.args(["--database", &database, "--documents", "24", "--processes", "3", "--crash"]);
        example
    };
    interrupted(example());
    let mut example = example();
    let output = example.output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    std::fs::remove_dir_all(&dir).expect("it can be tidied up");
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("an earlier run was interrupted"), "{said}");
    assert!(said.contains("a process was killed"), "{said}");
    assert!(said.contains("60 of 60 sentences are in the index"), "{said}");
}

/// A run that is killed as soon as it has pushed its documents. Its workers stop then.
fn interrupted(mut example: Command) {
    let mut running = example.stdout(Stdio::piped()).spawn().expect("it runs");
    let said = BufReader::new(running.stdout.take().expect("what it says"));
    let pushed = said.lines().map_while(Result::ok).find(|line| line.contains("24 documents"));
    assert!(pushed.is_some(), "it ended before it pushed anything");
    running.kill().expect("it can be killed");
    running.wait().expect("it ends");
}
