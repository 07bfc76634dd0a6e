//! Everything that is printed as help while a program is compiled is printed by one of the programs here, which are all
//! followed or say why not.

use std::path::{Path, PathBuf};
use std::{env, fs};

use pgflow_ui_tests::Shown;

/// Where they are written.
const ROOMS: &[&str] = &[
    "pgflow-syntax/src",
    "pgflow-macros/src",
    "pgflow-runtime/src/check",
    "pgflow-runtime/src/derived.rs",
    "pgflow-runtime/src/refused.rs",
    "pgflow-runtime/src/aliased.rs",
];

/// Helps that no program here can show, and who does.
const PRINTED_ELSEWHERE: &[(&str, &str)] = &[
    (
        "help: leave `version` away",
        "needs a `pgflow.lock`: tests/build/tests/generator/edits/refused.rs",
    ),
    (
        "help: change the newest version",
        "needs a `pgflow.lock`: tests/build/tests/generator/edits/refused.rs",
    ),
    (
        "help: give it a shorter `slug",
        "needs a `pgflow.lock`: tests/build/tests/generator/sources.rs",
    ),
    ("help: run `cargo pgflow migrate`", "needs a `pgflow.lock`: tests/build/tests/cargo/main.rs"),
    (
        "help: add it to `Cargo.toml`",
        "needs a manifest without `pgflow`: pgflow-macros/src/pgflow_crate.rs",
    ),
];

/// Helps that are put together, `help: {help}`: in which file, how often, and every way in which they go on.
const PUT_TOGETHER: &[(&str, usize, &[&str])] = &[
    (
        "pgflow-syntax/src/condition.rs",
        1,
        &["use its slug: `", "did you mean `\"", "the outputs it can test are "],
    ),
    (
        "pgflow-syntax/src/args.rs",
        1,
        &[
            "it is called `",
            "did you mean `",
            "the options are `",
            "it is an option of serde: `",
            "it is an option of the flow: `",
            "it is an option of steps: `",
            "other traits are derived beside it: `",
            "write `schema = false`",
            "its capability comes first, alone: `",
        ],
    ),
    (
        "pgflow-syntax/src/returned.rs",
        1,
        &[
            "write `pgflow::Result<()>`, or the type",
            "write `pgflow::Result<Next>`",
            "write `-> pgflow::Result<u8>`, and wrap",
            "write `-> pgflow::Result<Next>`, and end",
            "write `-> Result<u8>`, and `.await` the future",
        ],
    ),
    (
        "pgflow-syntax/src/unknown_param.rs",
        3,
        &[
            "call this parameter `",
            "leave this parameter away: `",
            "the number of an element is `ctx.index()`: take `",
            "join `",
        ],
    ),
    (
        "pgflow-syntax/src/dependencies.rs",
        1,
        &[
            "mark the function `",
            "did you mean `",
            "`mail_out` is the slug of `",
            "this flow has no other step",
            "the other steps of this flow are `",
        ],
    ),
    ("pgflow-syntax/src/param_shape.rs", 1, &["take `"]),
    (
        "pgflow-syntax/src/data_mistakes.rs",
        1,
        &["leave this `#[derive(…)]` away", "write `#[derive("],
    ),
    ("pgflow-syntax/src/schedule.rs", 1, &["add `schedule_input = …`, a `"]),
    (
        "pgflow-syntax/src/params.rs",
        1,
        &["call this parameter `item`", "add a parameter called `item`"],
    ),
    (
        "pgflow-syntax/src/job/params.rs",
        1,
        &[
            "it is called `job`",
            "it is called `ctx`",
            "application state is taken as `State<",
            "a need takes its payload as `job`",
        ],
    ),
];

/// Fails with the helps that no program prints.
pub(crate) fn are_all_printed<'a>(shown: impl Iterator<Item = &'a Shown>) {
    let printed: String = shown.map(|it| it.message.as_str()).collect();
    let mut missing = Vec::new();
    let files: Vec<_> = ROOMS.iter().flat_map(|room| files(&root().join(room))).collect();
    for file in &files {
        let (literal, together) = helps(file);
        let is_elsewhere =
            |help: &String| PRINTED_ELSEWHERE.iter().any(|(it, _)| help.starts_with(it));
        missing.extend(literal.into_iter().filter(|help| !is_elsewhere(help)));
        let known = PUT_TOGETHER.iter().find(|(it, ..)| file.ends_with(it));
        let (_, count, endings) = known.copied().unwrap_or_default();
        assert_eq!(together, count, "{}: list how these helps go on", file.display());
        missing.extend(endings.iter().map(|it| format!("help: {it}")));
    }
    missing.retain(|help| !printed.contains(help));
    assert!(missing.is_empty(), "no program prints {missing:#?}");
    for (help, elsewhere) in PRINTED_ELSEWHERE {
        let path = elsewhere.rsplit(' ').next().unwrap_or_default();
        assert!(root().join(path).is_file(), "{help}: there is no {path}");
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The file, or those of a directory.
fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let entries = fs::read_dir(path).expect("there are sources");
    entries.flat_map(|entry| files(&entry.expect("they can be read").path())).collect()
}

/// The beginnings of everything that a file prints as help, and how many have none that is literal.
fn helps(file: &Path) -> (Vec<String>, usize) {
    let text = fs::read_to_string(file).expect("they can be read");
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let written = code.split("\\nhelp: ").skip(1).chain(code.split("   help: ").skip(1));
    let start =
        |text: &str| text.split(['{', '"', '\n', '\\']).next().unwrap_or_default().to_owned();
    let (literal, together): (Vec<_>, Vec<_>) = written.map(start).partition(|it| it.len() > 6);
    (literal.into_iter().map(|it| format!("help: {it}")).collect(), together.len())
}
