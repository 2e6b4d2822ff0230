//! The company of a dataset, and the records that its contacts refer to.

use recado_core::access::{
    ApiKey, Company, Features, KeySecret, Member, Plan, Role, Scopes, TimeZone,
};
use recado_core::contacts::Region;
use recado_core::custom_fields::{CustomField, FieldStatus, FieldType};
use recado_core::deals::{Pipeline, Stage};
use recado_core::ids::{
    CloseReasonId, CompanyId, CustomFieldId, KeyId, ListId, MemberId, PipelineId, StageId, TagId,
};
use recado_core::lists::List;
use recado_core::store::ChangeSet;
use recado_core::tags::{CloseReason, Tag};
use recado_core::{Cell, Timestamp};
use uuid::Uuid;

/// Calls per minute. No machine reaches this, so the limit does not affect the results.
const RATE: u32 = 60_000_000;

/// The ids that contacts refer to.
#[derive(Clone, Debug)]
pub(crate) struct Ids {
    pub(crate) company: CompanyId,
    pub(crate) stages: Vec<StageId>,
    pub(crate) tags: Vec<TagId>,
    pub(crate) lists: Vec<ListId>,
    pub(crate) fields: Vec<CustomFieldId>,
    pub(crate) members: Vec<MemberId>,
    pub(crate) close_reasons: Vec<CloseReasonId>,
}

/// A company that is not stored yet.
pub(crate) struct Made {
    pub(crate) company: Ids,
    pub(crate) secret: String,
    pub(crate) changes: ChangeSet,
}

/// Makes a company with a key, members, a pipeline, tags, lists and custom fields.
pub(crate) fn make(name: &str, now: Timestamp) -> Made {
    // Ids and the key differ in each run, so that one database can have several datasets.
    let mut random = fastrand::Rng::new();
    let company = CompanyId::new(uuid(now, &mut random));
    let secret = KeySecret::from_random(Cell::default(), random_bytes(&mut random));
    let mut changes = ChangeSet::new()
        .insert(Company {
            id: company,
            name: name.to_owned(),
            plan: Plan::Enterprise,
            features: Features::default(),
            default_region: Region::br(),
            time_zone: TimeZone::default(),
            erase_deleted_messages: false,
            created_at: now,
            updated_at: now,
            deleted_at: None,
        })
        .insert(ApiKey {
            id: KeyId::new(uuid(now, &mut random)),
            company,
            name: "load".to_owned(),
            hash: secret.hash(),
            scopes: Scopes::all(),
            rate_per_minute: RATE,
            export_rate_per_minute: RATE,
            expires_at: None,
            last_used_at: None,
            created_at: now,
        });
    let mut ids = Ids {
        company,
        stages: Vec::new(),
        tags: Vec::new(),
        lists: Vec::new(),
        fields: Vec::new(),
        members: Vec::new(),
        close_reasons: Vec::new(),
    };
    let pipeline = PipelineId::new(uuid(now, &mut random));
    changes = changes.insert(Pipeline {
        id: pipeline,
        company,
        name: "Vendas".to_owned(),
        created_at: now,
    });
    let stages = ["Novo", "Contato", "Visita", "Proposta", "Negociação", "Fechamento"];
    for (order, name) in (0..).zip(stages) {
        let id = StageId::new(uuid(now, &mut random));
        let (name, color) = (name.to_owned(), "#1e90ff".to_owned());
        ids.stages.push(id);
        changes =
            changes.insert(Stage { id, company, pipeline, name, color, display_order: order });
    }
    for name in ["VIP", "Inadimplente", "Indicação", "Newsletter", "Feira"] {
        let id = TagId::new(uuid(now, &mut random));
        let (name, color) = (name.to_owned(), "#2e8b57".to_owned());
        ids.tags.push(id);
        changes = changes.insert(Tag { id, company, name, color, created_at: now });
    }
    for name in ["Clientes", "Campanha de Natal", "Aniversariantes"] {
        let id = ListId::new(uuid(now, &mut random));
        let name = name.to_owned();
        ids.lists.push(id);
        changes = changes.insert(List { id, company, name, is_active: true, created_at: now });
    }
    for (slug, label) in [("origem", "Origem"), ("tamanho", "Tamanho"), ("contrato", "Contrato")] {
        let id = CustomFieldId::new(uuid(now, &mut random));
        ids.fields.push(id);
        changes = changes.insert(CustomField {
            id,
            company,
            slug: slug.to_owned(),
            label: label.to_owned(),
            field_type: FieldType::Text,
            status: FieldStatus::Active,
            created_at: now,
        });
    }
    for name in ["Renata", "Tiago", "Sofia", "Hugo"] {
        let id = MemberId::new(uuid(now, &mut random));
        let display_name = name.to_owned();
        let role = Role::Agent;
        ids.members.push(id);
        changes = changes.insert(Member { id, company, display_name, role, created_at: now });
    }
    for name in ["Resolvido", "Sem resposta"] {
        let id = CloseReasonId::new(uuid(now, &mut random));
        let name = name.to_owned();
        ids.close_reasons.push(id);
        changes = changes.insert(CloseReason { id, company, name, created_at: now });
    }
    Made { company: ids, secret: secret.expose().to_owned(), changes }
}

/// A UUIDv7 of this time.
pub(crate) fn uuid(at: Timestamp, random: &mut fastrand::Rng) -> Uuid {
    let millis = u64::try_from(at.millis()).unwrap_or_default();
    let [tail @ .., _, _, _, _, _, _] = random.u128(..).to_be_bytes();
    uuid::Builder::from_unix_timestamp_millis(millis, &tail).into_uuid()
}

fn random_bytes(random: &mut fastrand::Rng) -> [u8; 32] {
    let mut bytes = [0; 32];
    random.fill(&mut bytes);
    bytes
}
