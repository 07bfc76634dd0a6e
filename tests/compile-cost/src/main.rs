//! What a flow costs to compile, against the same functions without `#[flow]`.
//!
//! ```sh
//! cargo run --release -p pgflow-compile-cost
//! cargo run --release -p pgflow-compile-cost -- --every-shape --check
//! ```

mod args;
mod figures;
mod generate;
mod measure;
mod report;
mod workspace;

use std::fs;
use std::process::ExitCode;

use args::Args;
use clap::Parser as _;
use figures::Figures;
use workspace::Workspace;

fn main() -> ExitCode {
    let args = Args::parse();
    let shapes = args.shapes().iter().map(|&shape| {
        let figures = Figures::measure(&Workspace::create(shape, args.sizes()), &args);
        println!("{}\n", report::table(&figures));
        figures
    });
    let figures: Vec<_> = shapes.collect();
    if let Some(file) = &args.json {
        let json = serde_json::to_string_pretty(&figures).expect("figures are plain data");
        fs::write(file, json + "\n").expect("the file for --json can be written");
    }
    let complaints: Vec<_> = figures.iter().flat_map(Figures::complaints).collect();
    for complaint in complaints.iter().filter(|_| args.check) {
        eprintln!("too slow: {complaint}");
    }
    if args.check && !complaints.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
