//! How far an import is, and its report.

use maud::{Markup, html};
use recado_core::imports::RowProblems;
use recado_core::imports::cells::is_remark;
use recado_core::imports::formula::escaped;

use super::super::documents::download;
use super::mapping::named;
use super::runs::{Progress, Report, Run};
use super::{PATH, find, path_of, path_of_named, unknown};
use crate::ask::Ask;
use crate::body::ConsoleBody;
use crate::i18n::Language;
use crate::refusal::Refusal;
use crate::reply::{Outcome, Reply};
use crate::view::empty::Tone;
use crate::view::layout::csrf_field;
use crate::view::table::{facts, table};
use crate::view::toast::notice;
use crate::visit::Visit;

/// How many refused rows the page shows; the file has all of them.
const SHOWN: usize = 100;

/// What is wrong with a row, field by field.
pub(super) fn problems(visit: &Visit, problems: &RowProblems) -> Markup {
    html! {
        @if problems.fields.is_empty() {
            (visit.language.reason(&problems.message))
        } @else {
            ul.reasons {
                @for (field, reason) in &problems.fields {
                    li { strong { (named(visit, field)) } " " (visit.language.reason(reason)) }
                }
            }
        }
    }
}

/// The same as one text, for the file. In English it is as the operator's call says it.
fn remark(visit: &Visit, problems: &RowProblems) -> String {
    if visit.language == Language::English {
        return problems.to_string();
    }
    if problems.fields.is_empty() {
        return visit.language.reason(&problems.message);
    }
    let said = |(field, reason): &(String, String)| {
        format!("{}: {}", named(visit, field), visit.language.reason(reason))
    };
    problems.fields.iter().map(said).collect::<Vec<_>>().join(" ")
}

/// The page of an import that was begun.
pub(super) fn page(visit: &Visit, run: &Run, progress: &Progress) -> Markup {
    html! {
        p {
            (visit.t_with("contacts-import-file-of", &[
                ("name", run.filename.as_str().into()), ("rows", run.sheet.lines.len().into()),
            ]))
        }
        (piece(visit, run, progress))
    }
}

/// The part that renews itself every second until the import is over.
fn piece(visit: &Visit, run: &Run, progress: &Progress) -> Markup {
    let path = path_of(run);
    let renew = format!("{path}/progress");
    let (done, all) = (progress.tally.rows, run.sheet.lines.len());
    html! {
        @if progress.is_over {
            div #import-progress { (over(visit, run, progress)) }
        } @else {
            div #import-progress hx-get=(renew) hx-trigger="every 1s" hx-swap="outerHTML" {
                label for="import-bar" {
                    (visit.t_with("contacts-import-progress", &[("done", done.into()), ("all", all.into())]))
                }
                progress #import-bar value=(done) max=(all) {}
                (counts(visit, progress))
                p { a href=(path) { (visit.t("contacts-import-renew")) } }
            }
        }
    }
}

fn counts(visit: &Visit, progress: &Progress) -> Markup {
    let tally = &progress.tally;
    let pairs = [
        ("made", tally.made),
        ("updated", tally.updated),
        ("already-there", tally.already_there),
        ("refused", tally.refused),
        ("skipped", tally.skipped),
    ];
    facts(
        &pairs
            .map(|(word, count)| (visit.t(&format!("contacts-import-{word}")), html! { (count) })),
    )
}

fn over(visit: &Visit, run: &Run, progress: &Progress) -> Markup {
    let path = path_of(run);
    let (tone, key) = match (&progress.stopped, progress.is_rehearsal) {
        (Some(_), _) => (Tone::Bad, "contacts-import-stopped"),
        (None, true) => (Tone::Plain, "contacts-import-rehearsed"),
        (None, false) => (Tone::Good, "contacts-import-done"),
    };
    let report = run.report();
    let rows: Vec<Vec<Markup>> = report
        .refused
        .iter()
        .take(SHOWN)
        .map(|(index, why)| {
            let line = run.sheet.lines.get(*index);
            let cells = line.map(|line| line.cells.join(" · ")).unwrap_or_default();
            let number = line.map_or(0, |line| line.line);
            vec![html! { (number) }, problems(visit, why), html! { bdi { (cells) } }]
        })
        .collect();
    let headings = ["contacts-import-line", "contacts-import-reason", "contacts-import-row"]
        .map(|key| visit.t(key));
    html! {
        (notice(tone, &visit.t(key)))
        @if let Some(why) = &progress.stopped { p.detail { (why) } }
        (counts(visit, progress))
        @if !rows.is_empty() {
            section aria-labelledby="refused" {
                h2 #refused { (visit.t("contacts-import-refused-title")) }
                p { a.button href={ (path) "/refused" } download { (visit.t("contacts-import-refused-file")) } }
                (table(&visit.t("contacts-import-refused-title"), &headings, &rows))
                @if report.refused.len() > SHOWN { p { (visit.t("contacts-import-refused-more")) } }
            }
        }
        @if !report.skipped.is_empty() {
            section aria-labelledby="skipped" {
                h2 #skipped { (visit.t("contacts-import-skipped")) }
                ul {
                    @for (line, (field, reason)) in &report.skipped {
                        li { (visit.t("contacts-import-line")) " " (line) ": " strong { (named(visit, field)) } " " (visit.language.reason(reason)) }
                    }
                }
            }
        }
        form.buttons method="post" action=(path) {
            (csrf_field(visit))
            @if progress.is_rehearsal || progress.stopped.is_some() {
                button.primary type="submit" name="do" value="again" { (visit.t("contacts-import-start")) }
            }
            button type="submit" name="do" value="back" { (visit.t("contacts-import-back")) }
            " " a href="/console/contacts" { (visit.t("contacts-title")) }
        }
    }
}

/// The part that renews itself. Of an import that is not known any more it says so, and is not
/// renewed any more (R438).
pub(super) async fn progress(ask: Ask) -> Outcome {
    let found = find(&ask).map(|run| (run.progress(), run));
    match found {
        Some((Some(progress), run)) if ask.is_piece => {
            Reply::piece(piece(&ask.visit, &run, &progress))
        }
        None if ask.is_piece => Reply::piece(html! {
            div #import-progress {
                (unknown(&ask.visit))
                p { a.button href=(PATH) { (ask.visit.t("contacts-import-send-again")) } }
            }
        }),
        Some(_) | None => Reply::goto(path_of_named(&ask)),
    }
}

/// R426. The refused rows with their lines and reasons, as a file that can be corrected and
/// imported; its cells are escaped (R175).
pub(super) async fn refused(ask: Ask) -> Outcome {
    let Some(run) = find(&ask) else { return Reply::goto(path_of_named(&ask)) };
    run.progress().ok_or(Refusal::NotFound)?;
    let written = file(&ask.visit, &run, &run.report())
        .map_err(|error| Refusal::Internal(error.to_string()))?;
    let size = written.len() as u64;
    let answer = http::Response::new(ConsoleBody::whole(written));
    Ok(Reply::Raw(download("refused.csv", "text/csv; charset=utf-8", Some(size), answer)))
}

fn file(visit: &Visit, run: &Run, report: &Report) -> Result<Vec<u8>, csv::Error> {
    let mut begin = b"\xef\xbb\xbf".to_vec();
    let mut writer = csv::WriterBuilder::new()
        .delimiter(run.sheet.delimiter)
        .flexible(true)
        .from_writer(&mut begin);
    let names = &run.sheet.names;
    let own = names.iter().map(String::as_str).filter(|name| !is_remark(name));
    writer.write_record(own.chain(["_line", "_reason"]).map(|name| escaped(name.as_bytes())))?;
    for (index, problems) in &report.refused {
        let Some(line) = run.sheet.lines.get(*index) else { continue };
        let own = names.iter().enumerate().filter(|(_, name)| !is_remark(name));
        let own = own.map(|(at, _)| line.cells.get(at).map(String::as_str).unwrap_or_default());
        let (number, reason) = (line.line.to_string(), remark(visit, problems));
        let remarks = [number.as_str(), reason.as_str()];
        let surplus = line.cells.iter().skip(names.len()).map(String::as_str);
        let all = own.chain(remarks).chain(surplus);
        writer.write_record(all.map(|cell| escaped(cell.as_bytes())))?;
    }
    writer.flush()?;
    drop(writer);
    Ok(begin)
}
