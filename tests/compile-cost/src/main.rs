//! What a flow costs to compile, against the same functions without `#[flow]`.
//!
//! ```sh
//! cargo run --release -p pgflow-compile-cost
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
    let workspace = Workspace::create(args.shape, args.sizes());
    let figures = Figures::measure(&workspace, &args);
    println!("{}", report::table(&figures));
    if let Some(file) = &args.json {
        let json = serde_json::to_string_pretty(&figures).expect("figures are plain data");
        fs::write(file, json + "\n").expect("the file for --json can be written");
    }
    let complaints = if args.check { figures.complaints() } else { Vec::new() };
    for complaint in &complaints {
        eprintln!("too slow: {complaint}");
    }
    if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
