//! The example does what it says, also when one of its processes is killed.

use std::process::Command;

#[test]
fn three_processes_of_which_one_is_killed_index_everything_once() {
    let dir = std::env::temp_dir().join(format!("pgflow-embeddings-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a directory");
    let database = format!("sqlite:{}", dir.join("embeddings.db").display());
    let mut example = Command::new(env!("CARGO_BIN_EXE_embeddings"));
    example.args(["--database", &database, "--documents", "24", "--processes", "3", "--crash"]);
    let output = example.output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    std::fs::remove_dir_all(&dir).expect("it can be tidied up");
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("a process was killed"), "{said}");
    assert!(said.contains("60 of 60 sentences are in the index"), "{said}");
}
