//! Prints the code that implements each rule of the reference and of the decisions, and the tests
//! of the rule.
//!
//! ```text
//! cargo run -p recado-rules                 prints the index
//! cargo run -p recado-rules -- --write      writes it to docs/rules.md, and the table of topics to
//!                                           docs/decisions.md
//! cargo run -p recado-rules -- --uncited    prints the rules that no function or no test cites
//! cargo run -p recado-rules -- --check      fails for a rule without code or test, for a citation
//!                                           of no rule, and if what --write writes is out of date
//! ```

mod citations;
mod exemptions;
mod index;
mod lex;
mod rules;
mod source;
mod topics;

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
    process::ExitCode,
};

use index::Index;

const PAGE: &str = "docs/rules.md";
const DECISIONS: &str = "docs/decisions.md";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(faults) if faults.is_empty() => ExitCode::SUCCESS,
        Ok(faults) => {
            eprintln!("{}", faults.join("\n"));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("cannot read or write the workspace: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The faults; empty if there are none.
fn run(arguments: &[&str]) -> io::Result<Vec<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let index = Index::read(&root)?;
    match arguments {
        [] => io::stdout().write_all(index.page().as_bytes())?,
        ["--write"] => {
            fs::write(root.join(PAGE), index.page())?;
            let decisions = fs::read_to_string(root.join(DECISIONS))?;
            if let Some(renewed) = index.decisions(&decisions).filter(|text| *text != decisions) {
                fs::write(root.join(DECISIONS), renewed)?;
            }
        }
        ["--uncited"] => index.uncited().iter().for_each(|rule| println!("{rule}")),
        ["--check"] => {
            let mut faults = index.faults();
            faults.extend(index.uncited());
            let decisions = fs::read_to_string(root.join(DECISIONS))?;
            let written = fs::read_to_string(root.join(PAGE)).unwrap_or_default();
            let current = [
                (PAGE, written == index.page()),
                (DECISIONS, index.decisions(&decisions).as_ref() == Some(&decisions)),
            ];
            for (page, _) in current.iter().filter(|(_, is_current)| !is_current) {
                faults.push(format!(
                    "{page} is out of date: run `cargo run -p recado-rules -- --write`"
                ));
            }
            return Ok(faults);
        }
        _ => return Ok(vec!["usage: recado-rules [--write | --uncited | --check]".to_owned()]),
    }
    Ok(index.faults())
}
