//! Which field each column is, and what becomes of the first rows.

use maud::{Markup, html};
use recado_core::imports::{
    CUSTOM, Imported, RowManner, RowOutcome, contact_columns_problem, contact_field_names,
    is_contact_field,
};

use super::runs::{Plan, Run};
use super::{find, path_of, path_of_named};
use crate::ask::Ask;
use crate::refusal::Refusal;
use crate::reply::{Outcome, Reply};
use crate::view::empty::{Tone, badge};
use crate::view::field::{Field, FieldErrors, checkbox};
use crate::view::layout::{Area, csrf_field};
use crate::view::table::table;
use crate::view::toast::notice;
use crate::visit::Visit;

/// How many rows are shown before the import.
const PREVIEW: usize = 20;

/// The page with the columns.
pub(super) async fn page(
    visit: &Visit,
    run: &Run,
    problem: Option<&str>,
) -> Result<Markup, Refusal> {
    let plan = run.plan();
    let custom = visit.recado.custom_fields().all(visit.company.id).await?;
    let mut options: Vec<(String, String)> =
        vec![(String::new(), visit.t("contacts-import-leave-out"))];
    options.extend(
        contact_field_names().into_iter().map(|name| (name.to_owned(), named(visit, name))),
    );
    options.extend(
        custom
            .iter()
            .filter(|field| field.is_active())
            .map(|field| (format!("{CUSTOM}{}", field.slug), field.label.clone())),
    );
    let lacks = contact_columns_problem(&plan.fields);
    let outcomes = match lacks {
        Some(_) => Vec::new(),
        None => run.preview(visit, PREVIEW).await?,
    };
    let none = FieldErrors::default();
    let text = |name: &Option<String>| name.clone().unwrap_or_default();
    Ok(html! {
        @if let Some(key) = problem { (notice(Tone::Bad, &visit.t(key))) }
        @if lacks.is_some() { (notice(Tone::Bad, &visit.t("contacts-import-no-person"))) }
        p {
            (visit.t_with("contacts-import-file-of", &[
                ("name", run.filename.as_str().into()), ("rows", run.sheet.lines.len().into()),
            ]))
        }
        form.stacked method="post" action=(path_of(run)) {
            (csrf_field(visit))
            fieldset {
                legend { (visit.t("contacts-import-columns")) }
                @for (index, name) in run.sheet.names.iter().enumerate() {
                    @let chosen = plan.fields.get(index).and_then(Option::as_deref).unwrap_or_default();
                    (column(index, name, example(run, index), &options, chosen))
                }
            }
            fieldset {
                legend { (visit.t("contacts-import-manner")) }
                (checkbox("update", &visit.t("contacts-import-update"), plan.manner.update))
                (checkbox("strict", &visit.t("contacts-import-strict"), plan.manner.strict))
                (checkbox("events", &visit.t("contacts-import-events"), plan.manner.events))
                (Field { name: "list", label: &visit.t("contacts-import-list"), value: &text(&plan.list),
                    kind: "text", is_required: false }.show(&none))
                (Field { name: "tag", label: &visit.t("contacts-import-tag"), value: &text(&plan.tag),
                    kind: "text", is_required: false }.show(&none))
            }
            div.buttons {
                button type="submit" name="do" value="preview" { (visit.t("contacts-import-preview")) }
                button type="submit" name="do" value="rehearse" { (visit.t("contacts-import-rehearse")) }
                button.primary type="submit" name="do" value="import" { (visit.t("contacts-import-start")) }
            }
        }
        @if lacks.is_none() { (preview(visit, run, &plan, &outcomes)) }
    })
}

/// The name of a field in the visit's language.
pub(super) fn named(visit: &Visit, field: &str) -> String {
    visit.word_of("contacts-field", field)
}

/// The first value of a column, which shows what it holds.
fn example(run: &Run, index: usize) -> &str {
    let cells = run.sheet.lines.iter().take(PREVIEW).filter_map(|line| line.cells.get(index));
    cells.map(|cell| cell.trim()).find(|cell| !cell.is_empty()).unwrap_or_default()
}

fn column(
    index: usize,
    name: &str,
    example: &str,
    options: &[(String, String)],
    chosen: &str,
) -> Markup {
    let id = format!("column-{index}");
    let example: String = example.chars().take(60).collect();
    html! {
        div.field {
            label for=(id) { bdi { (name) } @if !example.is_empty() { " " span.hint { bdi { (example) } } } }
            select id=(id) name=(id) {
                @for (value, text) in options {
                    option value=(value) selected[value == chosen] { (text) }
                }
            }
        }
    }
}

fn preview(visit: &Visit, run: &Run, plan: &Plan, outcomes: &[RowOutcome]) -> Markup {
    let used = || {
        plan.fields.iter().enumerate().filter_map(|(index, field)| Some((index, field.as_deref()?)))
    };
    let mut headings =
        ["contacts-import-line", "contacts-import-outcome"].map(|key| visit.t(key)).to_vec();
    headings.extend(used().map(|(_, field)| named(visit, field)));
    let rows: Vec<Vec<Markup>> = run
        .sheet
        .lines
        .iter()
        .zip(outcomes)
        .map(|(line, outcome)| {
            let cells = used().map(|(index, _)| {
                let cell = line.cells.get(index).map(String::as_str).unwrap_or_default();
                html! { bdi { (cell) } }
            });
            let first = [html! { (line.line) }, verdict(visit, outcome)];
            first.into_iter().chain(cells).collect()
        })
        .collect();
    html! {
        section aria-labelledby="preview" {
            h2 #preview { (visit.t("contacts-import-preview-title")) }
            (table(&visit.t("contacts-import-preview-title"), &headings, &rows))
        }
    }
}

/// What becomes of a row, with what is wrong with it.
fn verdict(visit: &Visit, outcome: &RowOutcome) -> Markup {
    let (tone, word) = match &outcome.imported {
        Imported::Made => (Tone::Good, "made"),
        Imported::Updated => (Tone::Good, "updated"),
        Imported::AlreadyThere => (Tone::Plain, "already-there"),
        Imported::Refused(_) => (Tone::Bad, "refused"),
    };
    html! {
        (badge(tone, &visit.t(&format!("contacts-import-{word}"))))
        @if let Imported::Refused(problems) = &outcome.imported { " " (super::report::problems(visit, problems)) }
        @for (field, reason) in &outcome.skipped {
            p.hint {
                (visit.t("contacts-import-left-out")) " " code { (field) } " "
                (visit.language.reason(reason))
            }
        }
    }
}

/// The plan of the form.
fn plan_of(ask: &Ask, run: &Run) -> Plan {
    let field = |index| {
        let field = ask.form.filled(&format!("column-{index}"))?;
        is_contact_field(field).then(|| field.to_owned())
    };
    let text = |name| ask.form.filled(name).map(str::to_owned);
    let is_checked = |name| ask.form.get(name).is_some();
    Plan {
        fields: (0..run.sheet.names.len()).map(field).collect(),
        manner: RowManner {
            events: is_checked("events"),
            update: is_checked("update"),
            strict: is_checked("strict"),
            is_rehearsal: ask.form.get("do") != Some("import"),
        },
        list: text("list"),
        tag: text("tag"),
    }
}

/// Keeps the columns, and begins the import if the form says so.
pub(super) async fn change(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let Some(run) = find(&ask) else { return Reply::goto(path_of_named(&ask)) };
    if run.progress().is_some_and(|progress| !progress.is_over) {
        return Reply::goto(path_of(&run));
    }
    let wanted = ask.form.get("do").unwrap_or_default();
    if wanted == "back" {
        run.forget_progress();
        return Reply::goto(path_of(&run));
    }
    let plan = if wanted == "again" { again(&run) } else { plan_of(&ask, &run) };
    let can_begin = contact_columns_problem(&plan.fields).is_none();
    run.set_plan(plan.clone());
    if wanted == "preview" || !can_begin {
        run.forget_progress();
        return Reply::goto(path_of(&run));
    }
    ask.shared.imports.remember(&run, &plan);
    if ask.shared.imports.begin(visit, &run) {
        return Reply::goto(path_of(&run));
    }
    let body = page(visit, &run, Some("contacts-import-busy")).await?;
    Reply::refused(Area::Contacts, visit.t("contacts-import"), body)
}

/// The plan of a dry run, in earnest.
fn again(run: &Run) -> Plan {
    let plan = run.plan();
    Plan { manner: RowManner { is_rehearsal: false, ..plan.manner }, ..plan }
}
