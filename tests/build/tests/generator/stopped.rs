//! A build that is killed between two of its writes: migrations, what they replace, the lock.

use std::collections::BTreeMap;

use pgflow_build_tests::{Scratch, commit, git};

/// Flows with these steps.
fn source(flows: &[(&str, &[&str])]) -> String {
    let step =
        |name: &&str| format!("    #[step] pub async fn {name}() -> Result<u8> {{ Ok(1) }}\n");
    let flow = |(name, steps): &(&str, &[&str])| {
        let steps: String = steps.iter().map(step).collect();
        format!("#[pgflow::flow]\npub mod {name} {{\n{steps}}}\n")
    };
    flows.iter().map(flow).collect()
}

/// Migrations and lock.
type State = (BTreeMap<String, String>, String);

fn state(scratch: &Scratch) -> State {
    (scratch.files(), scratch.read("pgflow.lock"))
}

fn restore(scratch: &Scratch, (files, lock): &State) {
    scratch.files().keys().for_each(|name| scratch.remove(&format!("migrations/{name}")));
    for (name, text) in files {
        scratch.write(&format!("migrations/{name}"), text);
    }
    scratch.write("pgflow.lock", lock);
}

/// Every state between two writes of a build: each of the new files is there or not yet, then what they
/// replace goes, then comes the lock.
fn between(before: &State, after: &State) -> Vec<State> {
    let mut states = vec![before.clone()];
    let mut files = before.0.clone();
    for (name, text) in &after.0 {
        if files.insert(name.clone(), text.clone()).as_ref() != Some(text) {
            states.push((files.clone(), before.1.clone()));
        }
    }
    for name in before.0.keys().filter(|name| !after.0.contains_key(*name)) {
        files.remove(name);
        states.push((files.clone(), before.1.clone()));
    }
    states
}

type Flows = &'static [(&'static str, &'static [&'static str])];

/// What is permanent, the draft that was there, and what the killed build was about to write.
const CASES: [(&str, Flows, Flows, Flows, usize); 4] = [
    ("in place", &[], &[("mail", &["a"])], &[("mail", &["b"])], 2),
    (
        "two in place",
        &[],
        &[("mail", &["a"]), ("post", &["a"])],
        &[("mail", &["b"]), ("post", &["b"])],
        3,
    ),
    (
        "another flow",
        &[("mail", &["a"])],
        &[("mail", &["a"]), ("post", &["a"])],
        &[("mail", &["b"])],
        3,
    ),
    (
        "another title beside another draft",
        &[("mail", &["a"])],
        &[("mail", &["b"]), ("post", &["a"])],
        &[("mail", &["a"]), ("post", &["b"])],
        3,
    ),
];

fn new(is_git: bool, source: &str) -> Scratch {
    let scratch = Scratch::new(&[("src/lib.rs", source)]);
    if is_git {
        git(&scratch.dir, &["init", "-q"]);
    }
    scratch
}

#[test]
fn the_next_build_goes_on_wherever_it_was() {
    for is_git in [true, false] {
        for (name, kept, draft, wanted, least) in CASES {
            let scratch = new(is_git, &source(kept));
            if !kept.is_empty() {
                scratch.draft();
                if is_git {
                    commit(&scratch.dir);
                } else {
                    scratch.migrations().keep().expect("kept");
                }
            }
            scratch.write("src/lib.rs", &source(draft));
            scratch.draft();
            let before = state(&scratch);
            scratch.write("src/lib.rs", &source(wanted));
            scratch.draft();
            let after = state(&scratch);
            let states = between(&before, &after);
            assert!(states.len() >= least, "{name}: {} states", states.len());
            for (at, stopped) in states.iter().enumerate() {
                restore(&scratch, stopped);
                let built = scratch.migrations().migrate();
                built.unwrap_or_else(|why| panic!("{name}, git {is_git}, write {at}: {why}"));
                assert_eq!(state(&scratch), after, "{name}, git {is_git}, write {at}");
            }
        }
    }
}

#[test]
fn what_the_source_no_longer_asks_for_can_be_removed_as_the_help_says() {
    for is_git in [true, false] {
        let scratch = new(is_git, &source(&[("mail", &["a"])]));
        scratch.draft();
        let (mut files, lock) = state(&scratch);
        scratch.write("src/lib.rs", &source(&[("mail", &["b"])]));
        scratch.draft();
        files.extend(scratch.files());
        restore(&scratch, &(files, lock));
        scratch.write("src/lib.rs", &source(&[("mail", &["c"])]));
        let why = scratch.migrations().migrate().expect_err("unclear").to_string();
        assert!(why.starts_with("migration `0001_create_mail.sql` is not one that"), "{why}");
        let help = "\nhelp: it is not committed, and no database is known to have it: remove it, and build";
        assert!(why.ends_with(help), "{why}");
        scratch.remove("migrations/0001_create_mail.sql");
        scratch.draft();
        assert!(scratch.read("migrations/0001_create_mail.sql").contains("'c'"), "git {is_git}");
        assert!(scratch.draft().is_empty(), "git {is_git}: a second build writes nothing");
    }
}

/// Committed, but lost or edited in the working copy, or in a lock that was committed without the file.
#[test]
fn what_others_have_is_never_written_anew() {
    let scratch = new(true, &source(&[("mail", &["a"])]));
    scratch.draft();
    commit(&scratch.dir);
    scratch.write("src/lib.rs", &source(&[("mail", &["b"])]));
    scratch.draft();
    git(&scratch.dir, &["add", "pgflow.lock"]);
    git(&scratch.dir, &["commit", "-qm", "without the migration"]);
    scratch.remove("migrations/0002_create_mail_v2.sql");
    let why = scratch.migrations().migrate().expect_err("lost").to_string();
    assert!(why.contains("is missing in `migrations`"), "{why}");
    git(&scratch.dir, &["reset", "-q", "--hard", "HEAD~1"]);
    scratch.write("migrations/0001_create_mail.sql", "-- pgflow flow: mail v1\n");
    let why = scratch.migrations().migrate().expect_err("edited").to_string();
    assert!(why.contains("has changed since it was written"), "{why}");
}
