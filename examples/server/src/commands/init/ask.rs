//! The questions of `recado init` on a terminal.

use std::io::{BufRead, IsTerminal, Write, stderr, stdin};

use super::CommandError;
use crate::options::DatabaseLocation;

/// Whether somebody is there to answer.
pub(super) fn can_ask() -> bool {
    stdin().is_terminal() && stderr().is_terminal()
}

/// The name of the company, unless it was given.
pub(super) fn company(given: Option<String>, default: &str) -> Result<String, CommandError> {
    match given {
        Some(name) => Ok(name),
        None => ask(&mut stdin().lock(), &mut stderr(), "Name of the first company", default),
    }
}

/// The database.
pub(super) fn database(default: &DatabaseLocation) -> Result<DatabaseLocation, CommandError> {
    let default = format!("{default:?}");
    database_from(&mut stdin().lock(), &mut stderr(), &default)
}

fn database_from(
    answers: &mut impl BufRead,
    questions: &mut impl Write,
    default: &str,
) -> Result<DatabaseLocation, CommandError> {
    loop {
        let question = "Database (sqlite:PATH or postgres://…)";
        match ask(answers, questions, question, default)?.parse() {
            Ok(database) => return Ok(database),
            // An answer may hold a password, the reason does not.
            Err(reason) => {
                let _ = writeln!(questions, "It {reason}.");
            }
        }
    }
}

/// Asks one question; an empty answer takes the default.
fn ask(
    answers: &mut impl BufRead,
    questions: &mut impl Write,
    question: &str,
    default: &str,
) -> Result<String, CommandError> {
    let _ = write!(questions, "{question} [{default}]: ");
    let _ = questions.flush();
    let mut line = String::new();
    let read = answers.read_line(&mut line).map_err(CommandError::run)?;
    if read == 0 {
        return Err(CommandError::Run("nothing was made: the questions have no answer".to_owned()));
    }
    let answer = line.trim();
    Ok(if answer.is_empty() { default } else { answer }.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R268.
    #[test]
    fn an_empty_answer_takes_the_default_and_none_ends_it() {
        let asked = |text: &str| {
            let mut questions = Vec::new();
            let answer = ask(&mut text.as_bytes(), &mut questions, "Name", "A");
            (String::from_utf8(questions).expect("UTF-8"), answer.map_err(|e| e.to_string()))
        };
        assert_eq!(asked("\n"), ("Name [A]: ".to_owned(), Ok("A".to_owned())));
        assert_eq!(asked("Padaria Aurora \n").1, Ok("Padaria Aurora".to_owned()));
        assert!(asked("").1.is_err());
    }

    /// R268.
    #[test]
    fn a_database_is_asked_for_until_the_answer_is_one() {
        let mut questions = Vec::new();
        let mut answers = "mysql://hunter2@a\nsqlite:b.db\n".as_bytes();
        let database = database_from(&mut answers, &mut questions, "sqlite:a.db").expect("one");
        assert_eq!(format!("{database:?}"), "sqlite:b.db");
        let questions = String::from_utf8(questions).expect("UTF-8");
        assert_eq!(questions.matches("[sqlite:a.db]").count(), 2);
        assert!(!questions.contains("hunter2"), "{questions}");
    }
}
