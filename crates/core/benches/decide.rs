//! How long the core takes to read and decide the creation of a contact, without any database.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use recado_core::contacts::{ContactDraft, CreateContact, DraftFacts, OrganizationIds, Region};
use recado_core::ids::{CompanyId, ContactId, EventId, JobId, OrganizationId};
use recado_core::{Timestamp, UseCase};
use serde_json::{Map, Value, json};
use uuid::Uuid;

fn body(value: Value) -> Map<String, Value> {
    value.as_object().cloned().expect("an object")
}

fn use_case(body: &Map<String, Value>) -> CreateContact {
    CreateContact {
        company: CompanyId::new(Uuid::from_u128(1)),
        draft: ContactDraft::of_new(body, &Region::br()),
        id: ContactId::new(Uuid::from_u128(2)),
        event: EventId::new(Uuid::from_u128(3)),
        organization: OrganizationIds::new(
            OrganizationId::new(Uuid::from_u128(4)),
            JobId::new(Uuid::from_u128(5)),
        ),
    }
}

fn create(criterion: &mut Criterion) {
    let phone_only = body(json!({"phone": "+55 (34) 99123-4567"}));
    let full = body(json!({
        "phone": "(34) 99123-4567",
        "name": "Maria Conceição de Araújo Gonçalves",
        "email": "maria.goncalves@example.com.br",
        "birthday": "1988-02-29",
        "observation": "prefere ser atendida à tarde",
        "cpf": "529.982.247-25",
        "genero": "feminino",
        "profissao": "engenheira",
        "city": "Uberlândia",
        "state": "MG",
        "postal_code": "38400-100",
        "cnpj": "11.222.333/0001-81",
    }));
    let now = Timestamp::from_millis(1_795_000_000_000);
    let mut group = criterion.benchmark_group("create");
    for (name, body) in [("phone_only", &phone_only), ("full", &full)] {
        let made = use_case(body);
        assert!(made.decide(DraftFacts::default(), now).is_ok(), "the body is acceptable");
        group.bench_function(format!("parse_{name}"), |bench| {
            bench.iter(|| ContactDraft::of_new(black_box(body), &Region::br()));
        });
        group.bench_function(format!("decide_{name}"), |bench| {
            bench.iter(|| made.decide(black_box(DraftFacts::default()), now));
        });
    }
    group.finish();
}

criterion_group!(benches, create);
criterion_main!(benches);
