//! Importing contacts from a file of CSV: sending it, choosing what its columns are, watching it,
//! reading its report (R426).

mod cells_held;
mod file;
mod mapping;
mod report;
mod runs;

use std::sync::Arc;

use maud::html;
use recado_core::access::OperatorAction;
use recado_core::imports::guessed_fields;

pub(crate) use self::runs::Imports;
use self::runs::{Plan, Run};
use crate::ask::Ask;
use crate::multipart::{Form, Held};
use crate::refusal::Refusal;
use crate::reply::{Outcome, Reply};
use crate::route::Route;
use crate::view::empty::Tone;
use crate::view::layout::{Area, csrf_field};
use crate::view::toast::notice;
use crate::visit::Visit;

const PATH: &str = "/console/contacts/import";

pub(crate) const ROUTES: &[Route] = &[
    Route::get(PATH, OperatorAction::ImportContact, |ask| Box::pin(choose(ask))),
    Route::post(PATH, OperatorAction::ImportContact, |ask| Box::pin(send(ask))).streamed(),
    Route::get("/console/contacts/import/{import}", OperatorAction::ImportContact, |ask| {
        Box::pin(show(ask))
    }),
    Route::post("/console/contacts/import/{import}", OperatorAction::ImportContact, |ask| {
        Box::pin(mapping::change(ask))
    }),
    Route::get(
        "/console/contacts/import/{import}/progress",
        OperatorAction::ImportContact,
        |ask| Box::pin(report::progress(ask)),
    ),
    Route::get("/console/contacts/import/{import}/refused", OperatorAction::ImportContact, |ask| {
        Box::pin(report::refused(ask))
    }),
];

fn path_of(run: &Run) -> String {
    format!("{PATH}/{}", run.id)
}

/// The page of the import that the path names, known or not.
fn path_of_named(ask: &Ask) -> String {
    let named: String =
        form_urlencoded::byte_serialize(ask.path.text("import").as_bytes()).collect();
    format!("{PATH}/{named}")
}

/// The import of the path.
fn find(ask: &Ask) -> Option<Arc<Run>> {
    ask.shared.imports.find(ask.visit.company.id, ask.path.text("import"))
}

/// The form with the file, after what was wrong with the last one.
fn form(visit: &Visit, problem: Option<&str>) -> maud::Markup {
    html! {
        @if let Some(key) = problem { (notice(Tone::Bad, &visit.t(key))) }
        p { (visit.t("contacts-import-about")) }
        form.stacked method="post" action=(PATH) enctype="multipart/form-data" {
            (csrf_field(visit))
            div.field {
                label for="import-file" { (visit.t("contacts-import-file")) }
                input #import-file type="file" name="file" accept=".csv,text/csv,.txt,.tsv" required
                    aria-describedby="import-file-hint";
                p.hint #import-file-hint { (visit.t("contacts-import-hint")) }
            }
            button type="submit" { (visit.t("contacts-import-send")) }
        }
    }
}

async fn choose(ask: Ask) -> Outcome {
    Reply::page(Area::Contacts, ask.visit.t("contacts-import"), form(&ask.visit, None))
}

/// Keeps the file, and leads to what its columns are.
async fn send(mut ask: Ask) -> Outcome {
    let file = Form::of(&mut ask)?.only_file().await?;
    let Held { filename, bytes, place } = match file.whole(file::MAX_BYTES).await {
        Err(Refusal::TooLarge) => return wrong(&ask.visit, "contacts-import-too-large"),
        read => read?,
    };
    let visit = &ask.visit;
    let imports = &ask.shared.imports;
    let sheet = match file::Sheet::read(&bytes, visit.company.id, imports) {
        Ok(sheet) => sheet,
        Err(error) => return wrong(visit, error.key()),
    };
    // Only the cells are kept from here on.
    drop((bytes, place));
    let custom = visit.recado.custom_fields().all(visit.company.id).await?;
    let custom: Vec<(String, String)> = custom
        .into_iter()
        .filter(recado_core::custom_fields::CustomField::is_active)
        .map(|field| (field.slug, field.label))
        .collect();
    let guessed = guessed_fields(&sheet.names, &custom);
    let remembered = sheet
        .names
        .iter()
        .zip(guessed)
        .map(|(name, guessed)| imports.remembered(visit.company.id, name).unwrap_or(guessed));
    let plan = Plan { fields: remembered.collect(), ..Plan::default() };
    let kept = imports.keep(visit.company.id, visit.recado.now(), filename, sheet, plan);
    match kept {
        Some(run) => Reply::goto(path_of(&run)),
        None => wrong(visit, "contacts-import-full"),
    }
}

fn wrong(visit: &Visit, key: &str) -> Outcome {
    Reply::refused(Area::Contacts, visit.t("contacts-import"), form(visit, Some(key)))
}

/// What there is to know about an import that this process does not know, and what to do about it
/// (R438).
fn unknown(visit: &Visit) -> maud::Markup {
    html! {
        div.notice.bad role="alert" {
            p { strong { (visit.t("contacts-import-unknown")) } }
            p { (visit.t("contacts-import-unknown-why")) }
            p { (visit.t("contacts-import-unknown-then")) }
        }
    }
}

/// The page of an import: its columns, or how far it is. What this process does not know was begun
/// before a restart (R438).
async fn show(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let title = visit.t("contacts-import");
    let Some(run) = find(&ask) else {
        let body = html! { (unknown(visit)) (form(visit, None)) };
        return Reply::refused(Area::Contacts, title, body);
    };
    let body = match run.progress() {
        None => mapping::page(visit, &run, None).await?,
        Some(progress) => report::page(visit, &run, &progress),
    };
    Reply::page(Area::Contacts, title, body)
}
