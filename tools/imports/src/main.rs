//! Counts the files of a crate whose imports form cycles, and fails above a limit.
//!
//! `imports crates/core/src/lib.rs=8 …`; `-v` also prints the imports within a cycle. An import is
//! counted for the file that defines the item, even if another module re-exports it. A full path in
//! an expression counts, too. Tests and methods are not counted.
#![forbid(unsafe_code)]

mod graph;
mod modules;
mod tokens;

use std::path::Path;
use std::process::ExitCode;

use graph::{circles, graph};
use modules::Modules;

fn main() -> ExitCode {
    let (mut verbose, mut within) = (false, true);
    for argument in std::env::args().skip(1) {
        if argument == "-v" {
            verbose = true;
            continue;
        }
        match check(&argument, verbose) {
            Ok(is_within) => within &= is_within,
            Err(problem) => {
                eprintln!("{argument}: {problem}");
                return ExitCode::from(2);
            }
        }
    }
    if within { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints the result for a crate; answers whether it is within its limit.
fn check(argument: &str, verbose: bool) -> Result<bool, Box<dyn std::error::Error>> {
    let (root, limit) = argument.split_once('=').ok_or("expected <root file>=<limit>")?;
    let limit: usize = limit.parse()?;
    let root = Path::new(root);
    let folder = root.parent().unwrap_or(root);
    let graph = graph(&Modules::read(root)?);
    let circles = circles(&graph);
    let count: usize = circles.iter().map(|circle| circle.len()).sum();
    let files = graph.len();
    println!("{}: {count} of {files} files in circles, at most {limit}", root.display());
    let name = |file: &Path| file.strip_prefix(folder).unwrap_or(file).display().to_string();
    let shown = if verbose { circles.len() } else { 1 };
    for circle in circles.iter().take(shown) {
        println!("  a circle of {}:", circle.len());
        for file in circle {
            println!("    {}", name(file));
            let imported = graph[*file].iter().filter(|to| circle.contains(to.as_path()));
            for to in imported.filter(|_| verbose) {
                println!("      -> {}", name(to));
            }
        }
    }
    Ok(count <= limit)
}
