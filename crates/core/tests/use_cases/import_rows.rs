//! Imports of many rows (R426).

use recado_core::contacts::ContactFilter;
use recado_core::imports::{Imported, Labels, Row, RowImport, RowManner, RowOutcome};
use recado_core::page::PageRequest;
use recado_testkit::Kit;
use serde_json::{Value, json};

fn row(body: Value) -> Row {
    Ok(body.as_object().cloned().expect("an object"))
}

async fn imported(kit: &Kit, manner: RowManner, rows: &[Row]) -> Vec<RowOutcome> {
    let import = RowImport::new(&kit.app, kit.company.clone(), manner).await.expect("an import");
    import.import_all(rows).await.expect("the store works")
}

async fn total(kit: &Kit, filter: &ContactFilter) -> u64 {
    let contacts = kit.app.contacts();
    let page = contacts.page_of(kit.company.id, filter, PageRequest::FIRST, false).await;
    page.expect("a page").total
}

fn words(outcomes: &[RowOutcome]) -> Vec<&'static str> {
    let word = |outcome: &RowOutcome| match &outcome.imported {
        Imported::Made => "made",
        Imported::AlreadyThere => "there",
        Imported::Updated => "updated",
        Imported::Refused(_) => "refused",
    };
    outcomes.iter().map(word).collect()
}

/// R426. R289.
#[tokio::test]
async fn rows_are_imported_in_order_and_each_has_its_outcome() {
    let kit = Kit::new().await;
    let rows = [
        row(json!({"phone": "+5511987654321", "name": "Ana"})),
        row(json!({"phone": "(11) 98765-4321", "name": "Bia"})),
        row(json!({"phone": "12"})),
        Err("has 1 cells in 2 columns".to_owned()),
        row(json!({"phone": "+5511987654322", "email": "wrong"})),
    ];
    let outcomes = imported(&kit, RowManner::default(), &rows).await;
    assert_eq!(words(&outcomes), ["made", "there", "refused", "refused", "made"]);
    assert_eq!(outcomes[4].skipped.len(), 1);
    let Imported::Refused(problems) = &outcomes[2].imported else { panic!("refused") };
    assert_eq!(problems.fields[0].0, "phone");
    assert_eq!(total(&kit, &ContactFilter::default()).await, 2);
    let update = RowManner { update: true, ..RowManner::default() };
    assert_eq!(words(&imported(&kit, update, &rows[..1]).await), ["updated"]);
}

/// R426. R286.
#[tokio::test]
async fn a_rehearsal_stores_nothing_and_counts_repeated_people_once() {
    let kit = Kit::new().await;
    let rows = [row(json!({"phone": "+5511987654321"})), row(json!({"phone": "5511987654321"}))];
    let manner = RowManner { is_rehearsal: true, ..RowManner::default() };
    assert_eq!(words(&imported(&kit, manner, &rows).await), ["made", "there"]);
    assert_eq!(total(&kit, &ContactFilter::default()).await, 0);
}

/// R426.
#[tokio::test]
async fn imported_contacts_get_the_list_and_the_tag() {
    let kit = Kit::new().await;
    let company = kit.company.id;
    let labels = Labels::find_or_make(&kit.app, company, Some("Fair"), Some("New")).await;
    let import = RowImport::new(&kit.app, kit.company.clone(), RowManner::default()).await;
    let import = import.expect("an import").with_labels(labels.expect("labels"));
    let rows = [row(json!({"phone": "+5511987654321"})), row(json!({"phone": "+5511987654322"}))];
    import.import_all(&rows).await.expect("imported");
    let list = kit.app.lists().all(company).await.expect("lists")[0].id;
    let tag = kit.app.tags().all(company).await.expect("tags")[0].id;
    let filter = ContactFilter { list: Some(list), tag: Some(tag), ..ContactFilter::default() };
    assert_eq!(total(&kit, &filter).await, 2);
}

/// R427.
#[tokio::test]
async fn contacts_that_asked_not_to_be_written_to_are_listed() {
    let kit = Kit::new().await;
    let stopped = json!({"phone": "+5511987654321", "opted_out_at": "2026-01-02T00:00:00Z"});
    let rows = [row(stopped), row(json!({"phone": "+5511987654322"}))];
    imported(&kit, RowManner::default(), &rows).await;
    let of = |company| ContactFilter { opted_out_of: Some(company), ..ContactFilter::default() };
    assert_eq!(total(&kit, &of(kit.company.id)).await, 1);
    let other = recado_core::ids::CompanyId::new(uuid::Uuid::nil());
    assert_eq!(total(&kit, &of(other)).await, 0);
}
