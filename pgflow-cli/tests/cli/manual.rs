//! docs/cli.md says what the program can do.

use std::path::Path;
use std::process::Command;

use crate::place::Scratch;

#[test]
fn the_manual_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/cli.md");
    let manual = pgflow_cli::manual();
    if std::env::var_os("PGFLOW_WRITE").is_some() {
        std::fs::write(&path, &manual).expect("it can be written");
    }
    let written = std::fs::read_to_string(&path).expect("docs/cli.md is there");
    let fix = "write it with `PGFLOW_WRITE=1 cargo test -p pgflow-cli --test cli manual`";
    assert!(written == manual, "docs/cli.md is not what the commands say; {fix}");
}

#[test]
fn every_command_has_an_example() {
    has_examples(&pgflow_cli::command(), "pgflow");
}

fn has_examples(above: &clap::Command, path: &str) {
    for command in above.get_subcommands() {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let name = format!("{path} {}", command.get_name());
        assert!(help.contains(&name), "{name}: {help}");
        has_examples(command, &name);
    }
}

#[test]
fn every_command_has_a_page() {
    let scratch = Scratch::new("man").expect("a directory");
    let mut man = Command::new(env!("CARGO_BIN_EXE_pgflow"));
    assert!(man.arg("man").arg(scratch.path()).status().expect("it runs").success());
    let page = |name: &str| {
        std::fs::read_to_string(scratch.path().join(format!("{name}.1"))).expect("a page")
    };
    assert!(page("pgflow").contains("Exit codes: 0 all is well"));
    for command in pgflow_cli::command().get_subcommands() {
        let (name, page) = (command.get_name(), page(&format!("pgflow-{}", command.get_name())));
        assert!(page.contains(".TH") && page.contains(&format!("pgflow {name}")), "{name}: {page}");
    }
    for command in ["ls", "show", "submit", "cancel", "clear", "redrive"] {
        let page = page(&format!("pgflow-job-{command}"));
        assert!(page.contains(&format!("pgflow job {command}")), "{command}: {page}");
    }
}
