//! `cargo pgflow diff`: what a pull request changes.

mod support;

use pgflow_build_tests::{Scratch, git};
use support::cargo_pgflow;

const BEFORE: &str = "flow mail v1 : Letter
  migration 0001_create_mail.sql sha256 00
  step address : String
  step send <- address timeout=30 : u32

flow old v1
  migration 0002_create_old.sql sha256 00
  step a : u8
";

const AFTER: &str = "dropped old by 0005_drop_old.sql

flow mail v2 : Letter
  migration 0003_create_mail_v2.sql sha256 00
  step address : String
  step post <- address timeout=60 was=send : u64
  step count <- post when_exhausted=skip : Map<u8 | u16>

flow new v1
  migration 0004_create_new.sql sha256 00
  step a : u8
";

const TABLES: &str = "### Flow `mail`: version 1 → 2

**Compatible: a new version; runs in flight keep the old one, and this code can finish them**

| Graph | | before | now |
|---|---|---|---|
| `post` | name | `send` | `post` |
| `count` | step | – | added |

| Types | | before | now |
|---|---|---|---|
| `post` | type | `u32` | `u64` |

| Policies | | before | now |
|---|---|---|---|
| `post` | timeout | `30` | `60` |

<details><summary>Graph before</summary>

```mermaid
flowchart TD
";

#[test]
fn two_files_are_compared_as_markdown() {
    let scratch = Scratch::new(&[("before.lock", BEFORE), ("after.lock", AFTER)]);
    let ran = cargo_pgflow(&scratch.dir, &["diff", "before.lock", "after.lock"]);
    let text = ran.stdout();
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    assert!(text.starts_with(TABLES), "{text}");
    assert!(text.contains("### Flow `new`: new\n\n<details><summary>Graph</summary>"), "{text}");
    assert!(text.contains("### Flow `old`: deleted"), "{text}");
    assert_eq!(text.matches("```mermaid").count(), 3, "{text}");
}

#[test]
fn two_files_are_compared_as_json() {
    let scratch = Scratch::new(&[("before.lock", BEFORE), ("after.lock", AFTER)]);
    let ran = cargo_pgflow(&scratch.dir, &["diff", "--json", "before.lock", "after.lock"]);
    assert_eq!(
        ran.stdout(),
        r#"[{"before":1,"changes":["step `post` was called `send`","step `post`: timeout was 30, now 60","step `post`: type was u32, now u64","step `count` is new"],"flow":"mail","impact":"compatible","stored":[],"version":2},{"flow":"new","impact":"new","version":1},{"before":1,"flow":"old","impact":"removed","migration":"0005_drop_old.sql","version":null}]
"#
    );
}

#[test]
fn a_flow_that_was_deleted_and_created_anew_has_lost_its_runs() {
    let again = BEFORE.replace("0002_create_old", "0004_create_old");
    let again = format!("dropped old by 0003_drop_old.sql\n\n{again}");
    let scratch = Scratch::new(&[("before.lock", BEFORE), ("after.lock", &again)]);
    let ran = cargo_pgflow(&scratch.dir, &["diff", "before.lock", "after.lock"]);
    let lost = "### Flow `old`: deleted and created anew\n\n**`0003_drop_old.sql` deletes it and all its runs.**";
    assert!(ran.stdout().starts_with(lost), "{}", ran.text());
    let ran = cargo_pgflow(&scratch.dir, &["diff", "--json", "before.lock", "after.lock"]);
    assert!(ran.stdout().contains(r#""impact":"recreated","migration":"0003_drop_old.sql""#));
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let scratch = Scratch::new(&[("before.lock", "nonsense\n"), ("after.lock", AFTER)]);
    let ran = cargo_pgflow(&scratch.dir, &["diff", "before.lock", "after.lock"]);
    assert_eq!(ran.code(), Some(1));
    assert!(ran.text().contains("in `before.lock`: pgflow.lock:1: cannot read"), "{}", ran.text());
}

#[test]
fn the_working_copy_is_compared_with_a_git_revision() {
    let scratch = Scratch::new(&[("pgflow.lock", BEFORE), ("src/lib.rs", "")]);
    let git = |args: &[&str]| git(&scratch.dir, args);
    git(&["init", "--quiet"]);
    git(&["commit", "--quiet", "--allow-empty", "-m", "Nothing yet"]);
    git(&["add", "pgflow.lock"]);
    git(&["commit", "--quiet", "-m", "Flows"]);
    for (lock, args, words) in [
        (BEFORE, &["diff"][..], "No flow has changed."),
        (AFTER, &["diff"], "### Flow `mail`: version 1 → 2"),
        (AFTER, &["diff", "HEAD"], "### Flow `mail`: version 1 → 2"),
        (AFTER, &["diff", "HEAD~1"], "### Flow `mail`: new"),
        (AFTER, &["diff", "HEAD~1", "HEAD"], "### Flow `old`: new"),
    ] {
        scratch.write("pgflow.lock", lock);
        let ran = cargo_pgflow(&scratch.dir, args);
        assert!(ran.stdout().contains(words), "{args:?}: {}", ran.text());
    }
}

/// Schemas of a flow whose only step outputs values of that type.
fn schemas(kind: &str) -> String {
    format!(
        r#"{{"mail": {{"input": {{"written": true}}, "steps": {{"send": {{"written": {{"type": "{kind}"}}}}}}}}}}"#
    )
}

#[test]
fn what_runs_store_is_compared_too() {
    let integer = schemas("integer");
    let scratch = Scratch::new(&[("pgflow.lock", BEFORE), ("pgflow.schemas.json", &integer)]);
    scratch.write("src/lib.rs", "");
    let git = |args: &[&str]| git(&scratch.dir, args);
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "Flows"]);
    for (kind, words) in [
        ("integer", "No flow has changed."),
        (
            "number",
            "| `send` | **readable by new code only** | `$`: type was integer, now number |",
        ),
        ("string", "| `send` | **breaking** | `$`: type was integer, now string |"),
        ("string", "**Stored data cannot be read any more: steps that need it are held back"),
    ] {
        scratch.write("pgflow.schemas.json", &schemas(kind));
        let ran = cargo_pgflow(&scratch.dir, &["diff"]);
        assert!(ran.stdout().contains(words), "{kind}: {}", ran.text());
    }
    let ran = cargo_pgflow(&scratch.dir, &["diff", "--json"]);
    assert!(ran.stdout().contains(r#""readable":"breaking","step":"send""#), "{}", ran.text());
}
