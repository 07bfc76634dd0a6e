//! Lists the SQL files, so that a new one cannot be forgotten.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    let postgres = [("NUMBERED", ""), ("FUNCTIONS", "functions"), ("AFTER", "after")];
    write_lists("postgres", &postgres);
    write_lists("sqlite", &[("NUMBERED", "")]);
    write_lists("mysql", &[("NUMBERED", "")]);
}

fn write_lists(database: &str, lists: &[(&str, &str)]) {
    // Asked at run time: checkouts that share a target directory may share this program too.
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let root = Path::new(&manifest).join(database);
    // Cargo looks at everything below, new files included.
    println!("cargo::rerun-if-changed={}", root.display());
    let mut code = String::new();
    for (name, dir) in lists {
        writeln!(code, "pub(super) const {name}: &[crate::File] = &[")
            .expect("writing to a string");
        for path in sql_files(&root.join(dir), !dir.is_empty()) {
            let stem = path.file_stem().expect("a file has a name").to_string_lossy();
            let path = path.to_string_lossy();
            writeln!(code, "({stem:?}, include_str!({path:?})),").expect("writing to a string");
        }
        code.push_str("];\n");
    }
    let out = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    std::fs::write(Path::new(&out).join(database).with_extension("rs"), code)
        .expect("cannot write the list");
}

/// By name, whichever folder they lie in.
fn sql_files(dir: &Path, with_folders: bool) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in dir.read_dir().into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() && with_folders {
            files.extend(sql_files(&path, false));
        } else if path.extension().is_some_and(|kind| kind == "sql") {
            files.push(path);
        }
    }
    files.sort_by(|a, b| a.file_stem().cmp(&b.file_stem()));
    files
}
