//! Lists the SQL files, so that a new one cannot be forgotten.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    // Asked at run time: checkouts that share a target directory may share this program too.
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let migrations = Path::new(&manifest).join("../migrations");
    // Cargo looks at everything below, new files included.
    println!("cargo::rerun-if-changed={}", migrations.display());
    let postgres = [("NUMBERED", ""), ("FUNCTIONS", "functions"), ("AFTER", "after")];
    write_lists("postgres_files.rs", &migrations.join("postgres"), &postgres);
    write_lists("sqlite_files.rs", &migrations.join("sqlite"), &[("MIGRATIONS", "")]);
}

fn write_lists(file: &str, root: &Path, lists: &[(&str, &str)]) {
    let mut code = String::new();
    for (name, dir) in lists {
        writeln!(code, "const {name}: &[(&str, &str)] = &[").expect("writing to a string");
        for path in sql_files(&root.join(dir)) {
            let stem = path.file_stem().expect("a file has a name").to_string_lossy();
            let path = path.to_string_lossy();
            writeln!(code, "({stem:?}, include_str!({path:?})),").expect("writing to a string");
        }
        code.push_str("];\n");
    }
    let out = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    std::fs::write(Path::new(&out).join(file), code).expect("cannot write the list");
}

fn sql_files(dir: &Path) -> Vec<PathBuf> {
    let entries = dir.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|kind| kind == "sql")).collect();
    files.sort();
    files
}
