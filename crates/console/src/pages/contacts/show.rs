//! One contact: who it is, and everything that belongs to it.

use maud::{Markup, html};
use recado_core::access::OperatorAction;
use recado_core::contacts::OperatorContact;
use recado_core::links::LinkView;

use super::list::Names;
use super::{deals, documents, history, id, labels, page_of};
use crate::ask::Ask;
use crate::reply::{Outcome, Reply};
use crate::view::confirm::confirm;
use crate::view::empty::{Tone, badge, empty};
use crate::view::layout::Area;
use crate::view::table::{facts, table};
use crate::view::when::when;
use crate::visit::Visit;

pub(super) async fn show(ask: Ask) -> Outcome {
    let visit = &ask.visit;
    let (recado, company, id) = (&visit.recado, visit.company.id, id(&ask));
    let contact = recado.contacts().get_without_memory(company, id).await?;
    let names = Names::of(visit).await?;
    let fields = recado.custom_fields().all(company).await?;
    let custom: Vec<(String, Markup)> = fields
        .iter()
        .filter_map(|field| {
            let value = contact.detail.custom_fields.get(&field.id.to_string())?;
            Some((field.label.clone(), html! { bdi { (value) } }))
        })
        .collect();
    let all_links = recado.links().all(company).await?;
    let own_links: Vec<&LinkView> = all_links.iter().filter(|it| it.contact_id == id).collect();
    let links: Vec<Vec<Markup>> = own_links
        .iter()
        .map(|link| vec![html! { (link.url) }, when(visit, link.created_at)])
        .collect();
    let deals = deals::section(visit, id, &names).await?;
    let documents = documents::section(visit, id).await?;
    let history = history::section(visit, &contact, &own_links, &names).await?;
    let body = html! {
        (actions(visit, &contact))
        section aria-labelledby="identity" {
            h2 #identity { (visit.t("contacts-identity")) }
            (facts(&identity(visit, &contact, &names)))
        }
        @if !custom.is_empty() {
            section aria-labelledby="custom" {
                h2 #custom { (visit.t("contacts-custom")) }
                (facts(&custom))
            }
        }
        (labels::section(visit, &contact, &names))
        (deals)
        (documents)
        @if visit.may(OperatorAction::GetLeadMemory) {
            section aria-labelledby="memory" {
                h2 #memory { (visit.t("contacts-memory")) }
                p { a href={ (page_of(id)) "/memory" } { (visit.t("contacts-memory-show")) } }
            }
        }
        section aria-labelledby="links" {
            h2 #links { (visit.t("contacts-links")) }
            @if links.is_empty() {
                (empty(&visit.t("contacts-links-empty")))
            } @else {
                (table(&visit.t("contacts-links"),
                    &[visit.t("contacts-link"), visit.t("contacts-column-created")], &links))
            }
        }
        (history)
    };
    Reply::page(Area::Contacts, contact.detail.summary.display_name.clone(), body)
}

fn actions(visit: &Visit, contact: &OperatorContact) -> Markup {
    let page = page_of(contact.detail.summary.id);
    html! {
        nav.actions aria-label=(visit.t("contacts-actions")) {
            a.button href={ "/console/inbox/" (contact.detail.summary.id) } { (visit.t("contacts-thread")) }
            @if visit.may(OperatorAction::PatchOperatorContact) {
                a.button href={ (page) "/edit" } { (visit.t("contacts-edit")) }
            }
            @if visit.may(OperatorAction::DeleteOperatorContact) {
                (confirm(visit, &format!("{page}/delete"), &visit.t("contacts-delete"),
                    &visit.t("contacts-delete-question")))
            }
        }
    }
}

fn identity(visit: &Visit, contact: &OperatorContact, names: &Names) -> Vec<(String, Markup)> {
    let detail = &contact.detail;
    let summary = &detail.summary;
    let mut facts = Vec::new();
    let mut add = |key: &str, value: Markup| facts.push((visit.t(key), value));
    add("contacts-column-name", html! { bdi { (summary.name) } });
    add("contacts-column-phone", html! { bdi { (summary.phone) } });
    add("contacts-identifier", html! { code { (summary.identifier) } });
    if let Some(email) = &summary.email {
        add("contacts-column-email", html! { (email) });
    }
    if let Some(email) = &contact.shared_email {
        add("contacts-shared-email", html! { (email) });
    }
    add(
        "contacts-column-status",
        html! { (visit.word_of("contacts-status", summary.inbox_status.as_str())) },
    );
    add(
        "contacts-column-crm",
        html! { (visit.word_of("contacts-crm", summary.crm_status.as_str())) },
    );
    add(
        "contacts-column-priority",
        html! { (visit.word_of("contacts-priority", summary.priority.as_str())) },
    );
    if let Some(stage) = &detail.pipeline_stage {
        add("contacts-column-stage", html! { (stage.name) });
    }
    let member = summary.assigned_to_member_id.and_then(|id| names.member(id));
    add(
        "contacts-column-assigned",
        html! { (member.map_or_else(|| visit.t("contacts-nobody"), str::to_owned)) },
    );
    if let Some(at) = contact.opted_out_at {
        add(
            "contacts-opted-out",
            html! {
                (badge(Tone::Bad, &visit.t("contacts-opted-out"))) " " (when(visit, at))
            },
        );
    }
    if summary.is_blocked {
        add("contacts-blocked", badge(Tone::Bad, &visit.t("contacts-yes")));
    }
    if let Some(profile) = &detail.profile {
        let texts = [
            ("birthday", &profile.birthday),
            ("cpf", &profile.cpf),
            ("rg", &profile.rg),
            ("genero", &profile.genero),
            ("estado_civil", &profile.estado_civil),
            ("profissao", &profile.profissao),
            ("cargo", &profile.cargo),
            ("street", &profile.street),
            ("street_number", &profile.street_number),
            ("address_complement", &profile.address_complement),
            ("neighborhood", &profile.neighborhood),
            ("city", &profile.city),
            ("state", &profile.state),
            ("postal_code", &profile.postal_code),
            ("country", &profile.country),
            ("observation", &profile.observation),
        ];
        for (name, value) in texts {
            if let Some(value) = value {
                add(
                    &format!("contacts-field-{}", name.replace('_', "-")),
                    html! { bdi { (value) } },
                );
            }
        }
    }
    for connection in &detail.connections {
        add(
            "contacts-connection",
            html! { (connection.name) " " code { (connection.identifier) } },
        );
    }
    add("contacts-column-created", when(visit, summary.created_at));
    add("contacts-updated", when(visit, summary.updated_at));
    facts
}
