//! An editor that runs `cargo check` on each save, also in the middle of a word: at the end there are
//! exactly the migrations that a person would have written.
//!
//! The short run has a few edits; `PGFLOW_TEST_LONG=1` makes it forty, and `PGFLOW_TEST_SEED=n` makes them others.

mod app;
mod typing;

use std::collections::BTreeMap;

use app::App;
use pgflow_build_tests::{Scratch, commit, git};
use typing::{Random, half_typed};

use super::project::Project;

/// Which edits there are, unless `PGFLOW_TEST_SEED` says.
const SEED: u64 = 7;

#[test]
fn an_editor_that_saves_writes_what_a_person_would_have_written() {
    let is_long = std::env::var("PGFLOW_TEST_LONG").is_ok_and(|value| value == "1");
    let edits = if is_long { 40 } else { 8 };
    let seed = std::env::var("PGFLOW_TEST_SEED")
        .map_or(SEED, |seed| seed.parse().expect("PGFLOW_TEST_SEED is a number"));
    let mut random = Random(seed);
    let (project, person) = (Project::new("editor"), Scratch::new(&[]));
    project.remove("src/main.rs");
    git(&project.dir, &["init", "-q"]);
    let mut app = App::default();
    save(&project, &app.source());
    for edit in 1..=edits {
        let before = app.source();
        app.edit(&mut random);
        for half in half_typed(&before, &app.source(), &mut random) {
            project.write("src/lib.rs", &half);
            project.check();
        }
        save(&project, &app.source());
        if edit % 5 == 0 || edit == edits {
            // What a person does: finish, write the migrations, look at them, commit.
            person.write("src/lib.rs", &app.source());
            person.migrate();
            assert_eq!(written(&project), written_by(&person), "seed {seed}, edit {edit}");
            commit(&project.dir);
            app.commit();
        }
    }
}

fn save(project: &Project, source: &str) {
    project.write("src/lib.rs", source);
    project.check().succeeds();
}

/// Everything that was written, without the numbers: which of two flows came first is nobody's choice.
fn written(project: &Project) -> BTreeMap<String, String> {
    let read = |name: String| (name.clone(), project.read(&format!("migrations/{name}")));
    without_numbers(project.migrations().into_iter().map(read), &project.read("pgflow.lock"))
}

fn written_by(person: &Scratch) -> BTreeMap<String, String> {
    without_numbers(person.files().into_iter(), &person.read("pgflow.lock"))
}

fn without_numbers(
    files: impl Iterator<Item = (String, String)>,
    lock: &str,
) -> BTreeMap<String, String> {
    let mut lock = lock.to_owned();
    let title = |(name, text): (String, String)| {
        let title = name.split_once('_').expect("a number").1.to_owned();
        lock = lock.replace(&name, &title);
        (title, text)
    };
    let files: BTreeMap<_, _> = files.map(title).collect();
    files.into_iter().chain([("pgflow.lock".to_owned(), lock)]).collect()
}
