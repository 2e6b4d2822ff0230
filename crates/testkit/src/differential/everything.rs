//! Everything that can be read from a store at the end.

use recado_core::access::{ApiKeyView, Company};
use recado_core::contacts::{ContactFilter, ExportQuery};
use recado_core::ids::ContactId;
use recado_core::organizations::Organization;
use recado_core::page::PageRequest;
use recado_core::store::RecordsExt;
use serde_json::{Value, json};

use super::side::{Side, nil, show};
use super::world::World;

impl Side<'_> {
    /// The operator's listings of a company.
    pub(super) async fn records(&self, company: &Company) -> Vec<Value> {
        let (app, id) = (&self.app, company.id);
        let keys = app.access().keys(id).await;
        let keys = keys.map(|keys| keys.iter().map(ApiKeyView::from).collect::<Vec<_>>());
        vec![
            show(app.lists().all(id).await),
            show(app.tags().all(id).await),
            show(app.tags().close_reasons(id).await),
            show(app.custom_fields().all(id).await),
            show(app.deals().pipelines(id).await),
            show(app.deals().all(id).await),
            show(app.links().all(id).await),
            show(app.access().members(id).await),
            show(app.access().companies().await),
            show(keys),
            json!(format!("{:?}", app.store().all::<Organization>(id).await.ok())),
        ]
    }

    /// The answers of all reads, for all companies.
    pub(super) async fn everything(&self, world: &World) -> Vec<Value> {
        let mut everything = Vec::new();
        for (company, caller) in &self.companies {
            everything.extend(self.records(company).await);
            everything.extend(self.all_messaging(company.id, world).await);
            everything.extend(self.all_outbound(company.id, caller).await);
            let (filter, all) = (ContactFilter::default(), PageRequest { page: 1, limit: 100 });
            let page = self.app.contacts().page(caller, &filter, all, true).await;
            everything.push(show(page.map(|page| json!([page.items, page.total]))));
            let query = ExportQuery { filter, cursor: None, limit: 100, clicks: true };
            let part = self.app.contacts().export(caller, &query).await;
            everything.push(show(part.map(|part| json!([part.items, part.total]))));
            let events = self.harness.events(company.id).await;
            everything.push(json!(format!("{events:?}")));
            for id in world.ids.get("contact").into_iter().flatten() {
                let id = ContactId::new(nil(id.clone()));
                everything.push(show(self.app.contacts().get_for_operator(company.id, id).await));
                everything.push(show(self.app.documents().list(company.id, id).await));
            }
        }
        everything.push(json!(self.files.keys()));
        everything.extend(self.rows.everything(world).await);
        everything
    }
}
