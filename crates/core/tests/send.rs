//! The futures of use cases can be spawned on any runtime.

use recado_core::Recado;
use recado_core::access::Caller;
use recado_core::ids::{CompanyId, ContactId, ListId, MemberId, PipelineId};
use serde_json::{Map, Value};

fn send<T: Send>(_: T) {}

#[expect(dead_code, reason = "compiling it is the test")]
fn every_use_case_is_send(
    recado: &Recado,
    caller: &Caller,
    company: CompanyId,
    body: &Map<String, Value>,
) {
    let nil = uuid::Uuid::nil();
    let contact = ContactId::new(nil);
    send(recado.contacts().create(caller, body));
    send(recado.contacts().update(caller, contact, body));
    send(recado.contacts().delete(caller, contact));
    send(recado.contacts().patch_as_operator(company, contact, body));
    send(recado.access().change_company(company, body));
    send(recado.access().delete_member(company, MemberId::new(nil)));
    send(recado.lists().add_contacts(company, ListId::new(nil), body));
    send(recado.lists().change(company, ListId::new(nil), body));
    send(recado.deals().change_pipeline(company, PipelineId::new(nil), body));
    send(recado.deals().delete_pipeline(company, PipelineId::new(nil)));
    send(recado.documents().attach(company, contact, "", Vec::new()));
    send(recado.jobs().run_one());
}

#[test]
fn the_handle_can_be_shared_between_threads() {
    fn shared<T: Send + Sync + Clone>() {}
    shared::<Recado>();
}
