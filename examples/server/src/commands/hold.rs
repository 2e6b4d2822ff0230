//! `recado hold` and `recado resume` (D75, D76).

use clap::Args;
use recado_core::Recado;
use recado_core::halts::{Halt, HaltSubject};
use serde_json::{Value, json};

use super::{CommandError, output};

pub(super) const HOLD_HELP: &str = "\
Examples:
  recado hold
  recado hold --reason 'the number was reported, see ticket 4711'

Nothing is sent, dispatched or delivered, by any process of the installation, from five seconds on
after this command. What comes in is stored, and everything else goes on. See also: recado resume.";

pub(super) const RESUME_HELP: &str = "\
Examples:
  recado resume
  recado resume --json

Ends a hold, also that of a restored backup, and opens what a move that was killed left closed.
Campaigns that were paused stay paused. What was moved away completely stays closed: two
installations would serve the same people. Only --moved opens it.";

/// The options of `recado hold`.
#[derive(Debug, Args)]
pub struct HoldArgs {
    /// Why, for those who look at /readyz
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// The options of `recado resume`.
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// Opens what was moved away completely, too
    #[arg(long)]
    moved: bool,
}

pub(super) async fn hold(recado: &Recado, json: bool, args: HoldArgs) -> Result<(), CommandError> {
    let halt = recado.halts().hold(args.reason.as_deref()).await.map_err(CommandError::run)?;
    if json {
        output::json(&json!({ "held": true, "halt": shown(&halt) }));
    } else {
        output::line(format_args!("On hold since {}. Nothing is sent.", halt.since));
    }
    Ok(())
}

pub(super) async fn resume(
    recado: &Recado,
    json: bool,
    args: ResumeArgs,
) -> Result<(), CommandError> {
    let resumed = recado.halts().resume(args.moved).await.map_err(CommandError::run)?;
    if json {
        let all = |halts: &[Halt]| halts.iter().map(shown).collect::<Vec<_>>();
        let (ended, kept) = (all(&resumed.ended), all(&resumed.kept));
        output::json(&json!({ "held": false, "ended": ended, "kept": kept }));
        return Ok(());
    }
    if resumed.ended.is_empty() {
        output::line("Nothing was on hold or closed by a move under way.");
    }
    for halt in &resumed.ended {
        output::line(format_args!("Ended: {}, since {}.", named(halt.subject), halt.since));
    }
    for halt in &resumed.kept {
        output::line(format_args!("Stays: {}, moved away.", named(halt.subject)));
    }
    Ok(())
}

fn shown(halt: &Halt) -> Value {
    let company = match halt.subject {
        HaltSubject::SendingOf(company) | HaltSubject::WritingOf(company) => Some(company),
        HaltSubject::Sending | HaltSubject::Writing => None,
    };
    json!({
        "halts": halt.subject.kind(), "company_id": company, "reason": halt.reason,
        "since": halt.since, "moved": halt.is_final(),
    })
}

fn named(subject: HaltSubject) -> String {
    match subject {
        HaltSubject::Sending => "the hold".to_owned(),
        HaltSubject::SendingOf(company) => format!("the hold of the company {company}"),
        HaltSubject::Writing => "the closure of the installation".to_owned(),
        HaltSubject::WritingOf(company) => format!("the closure of the company {company}"),
    }
}
