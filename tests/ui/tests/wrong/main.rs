//! Hundreds of wrong programs, as a user has them: with the default features. Each is one short error at
//! the right token, and whoever follows its help gets a program that compiles.
//!
//! `WRONG=word,other cargo test -p pgflow-ui-tests --test wrong -- --nocapture` shows what the compiler says
//! about the programs with one of these words in their name, or in a file of that name.

mod exceptions;
mod helps;

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::path::Path;

use exceptions::{EXCEPTIONS, OF_THE_COMPILER};
use pgflow_ui_tests::{Many, Program, Shown, programs};

/// Lines an error may take.
const LIMIT: usize = 12;

/// Of a hundred programs, so many keep all three measures.
const SHARE: usize = 95;

/// Of a hundred whose error is ours to word.
const SHARE_OF_OURS: usize = 98;

fn chosen() -> Vec<Program> {
    let words = env::var("WRONG").unwrap_or_default();
    let is_chosen =
        |it: &Program| words.split(',').any(|word| it.name.contains(word) || it.set == word);
    programs().into_iter().filter(is_chosen).collect()
}

fn check<'a>(
    name: &str,
    sources: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> BTreeMap<String, Vec<Shown>> {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ui");
    Many::write(&scratch, name, sources).errors()
}

/// What is not as it should be; nothing if the program is one short error at the right token.
fn shortfalls(program: &Program, shown: &[Shown]) -> Vec<String> {
    let mut found = Vec::new();
    match shown.len() {
        0 => return vec!["accepted".to_owned()],
        1 => {}
        several => found.push(format!("{several} errors")),
    }
    let long = shown.iter().map(Shown::length).filter(|length| *length > LIMIT);
    found.extend(long.map(|length| format!("{length} lines")));
    if !shown.iter().any(|it| it.mark.as_ref() == Some(&program.mark)) {
        found.push(format!("not at `{}`", program.mark.text));
    }
    found
}

/// Whether the program's error is one that rustc words alone, and at length.
fn is_of_the_compiler(name: &str) -> bool {
    let mut reasons = EXCEPTIONS.iter().filter(|(it, _)| *it == name).map(|(_, reason)| reason);
    reasons.any(|reason| OF_THE_COMPILER.contains(reason))
}

/// What we print as help: rustc's own has a line of its own, and another place in the message.
fn has_help(shown: &[Shown]) -> bool {
    shown.iter().any(|it| it.message.contains("\nhelp: "))
}

#[test]
fn each_is_one_short_error_at_the_right_token() {
    let (all, is_whole) = (chosen(), env::var_os("WRONG").is_none());
    let found =
        check("wrong_programs", all.iter().map(|it| (it.name.as_str(), it.source.as_str())));
    let (mut report, mut short) = (String::new(), Vec::new());
    for program in &all {
        let shown = found.get(&program.name).map_or(&[][..], Vec::as_slice);
        let shortfalls = shortfalls(program, shown);
        let is_known = EXCEPTIONS.iter().any(|(name, _)| *name == program.name);
        if !shortfalls.is_empty() {
            short.push(program.name.as_str());
        }
        if shortfalls.is_empty() == is_known || shown.is_empty() || !is_whole {
            let text: String = shown.iter().map(|it| it.rendered.as_str()).collect();
            let _ = write!(report, "\n{}: {}\n{text}", program.name, shortfalls.join(", "));
        }
        // A need is not a step, and whoever writes jobs may have none.
        let is_about_needs =
            program.source.contains("#[need") && !program.source.contains("#[step");
        if is_about_needs && shown.iter().any(|it| it.message.contains("step")) {
            let _ = write!(report, "\n{}: speaks of steps\n{}", program.name, shown[0].rendered);
        }
        let is_explained = program.not_followed.is_some() || !program.followed.is_empty();
        if has_help(shown) && !is_explained {
            let _ = write!(report, "\n{}: follow its help\n{}", program.name, shown[0].rendered);
        }
    }
    assert!(is_whole, "{report}\n{} of {} keep all measures", all.len() - short.len(), all.len());
    assert!(
        report.is_empty(),
        "these do not keep their measures, or no longer need an exception:\n{report}"
    );
    let kept = all.len() - short.len();
    let ours = all.iter().filter(|it| !is_of_the_compiler(&it.name)).count();
    assert!(kept * 100 >= all.len() * SHARE, "{kept} of {}, without {short:?}", all.len());
    assert!(kept * 100 >= ours * SHARE_OF_OURS, "{kept} of {ours}, without {short:?}");
    println!(
        "{kept} of {} programs, of which {ours} are ours to word: one error, at most {LIMIT} lines, at the right token",
        all.len()
    );
    helps::are_all_printed(found.values().flatten());
}

#[test]
fn whoever_follows_a_help_gets_a_program_that_compiles() {
    let mended = chosen().into_iter().filter_map(|it| Some((it.mended()?, it.name)));
    let mended: Vec<_> = mended.collect();
    let found = check(
        "mended_programs",
        mended.iter().map(|(source, name)| (name.as_str(), source.as_str())),
    );
    assert!(found.is_empty(), "{found:#?}");
    println!("{} helps followed", mended.len());
}
