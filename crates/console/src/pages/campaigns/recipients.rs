//! The recipients of a campaign by status, with why messages failed.

use std::collections::BTreeMap;

use maud::{Markup, html};
use recado_core::campaigns::{RecipientFilter, RecipientStatus, RecipientView};
use recado_core::ids::CampaignId;
use recado_core::page::{MAX_LIMIT, PageRequest};

use super::{id, page_of};
use crate::ask::Ask;
use crate::pages::contacts::link;
use crate::refusal::Refusal;
use crate::reply::{Outcome, Reply};
use crate::view::empty::empty;
use crate::view::field::{FieldErrors, select};
use crate::view::layout::Area;
use crate::view::pager::pager;
use crate::view::table::table;
use crate::view::when::when;
use crate::visit::Visit;

/// How many pages of the core's largest size are read to count reasons.
const COUNTED: u32 = 10;
/// How many people a reason names.
const NAMED: usize = 50;

pub(super) async fn list(ask: Ask) -> Outcome {
    let (visit, id) = (&ask.visit, id(&ask));
    let (company, campaigns) = (visit.company.id, visit.recado.campaigns());
    let record = campaigns.get(company, id).await?;
    let filter = RecipientFilter::parse(&ask.query.params(&["status"]))?;
    let request = PageRequest::parse(&ask.query.params(&["page", "limit"]))?;
    let found = campaigns.recipients(company, id, filter, request).await?;
    let columns = ["recipient", "status", "reason", "sent"]
        .map(|name| visit.t(&format!("campaigns-column-{name}")));
    let rows: Vec<Vec<Markup>> = found.data.iter().map(|one| row(visit, one)).collect();
    let path = format!("{}/recipients", page_of(id));
    let mut options = vec![(String::new(), visit.t("campaigns-all"))];
    let words = RecipientStatus::WORDS.iter();
    options.extend(words.map(|w| ((*w).to_owned(), visit.word_of("campaigns-outcome", w))));
    let chosen = ask.query.get("status").unwrap_or_default();
    let label = visit.t("campaigns-column-status");
    let body = html! {
        p { a href=(page_of(id)) { bdi { (record.campaign.name) } } }
        form.stacked method="get" action=(path) {
            (select("status", &label, &options, chosen, &FieldErrors::default()))
            button.quiet type="submit" { (visit.t("campaigns-filter")) }
        }
        (reasons(visit, id, filter).await?)
        @if rows.is_empty() {
            (empty(&visit.t("campaigns-recipients-empty")))
        } @else {
            (table(&visit.t("campaigns-recipients"), &columns, &rows))
            (pager(visit, &path, &ask.query, request, found.total))
        }
    };
    Reply::page(Area::Campaigns, visit.t("campaigns-recipients"), body)
}

/// Who a recipient is: the name and the number, as a way to the contact.
fn who(visit: &Visit, recipient: &RecipientView) -> Markup {
    let Some(contact) = recipient.contact_id else {
        return html! { (visit.t("campaigns-gone")) };
    };
    let number = recipient.phone.as_deref().unwrap_or_default();
    let name = recipient.name.as_deref().filter(|name| *name != number && !name.is_empty());
    html! {
        (link(visit, contact, name.unwrap_or(number)))
        @if name.is_some() { " " bdi { (number) } }
    }
}

fn row(visit: &Visit, recipient: &RecipientView) -> Vec<Markup> {
    vec![
        who(visit, recipient),
        html! { (visit.word_of("campaigns-outcome", recipient.status.as_str())) },
        html! {
            @match recipient.error_code {
                Some(fault) => (why(visit, fault.as_str())),
                None => "–",
            }
        },
        html! {
            @match recipient.sent_at {
                Some(at) => (when(visit, at)),
                None => "–",
            }
        },
    ]
}

/// A reason in words, or its code where there are none.
fn why(visit: &Visit, code: &str) -> String {
    let word = code.to_lowercase();
    let text = visit.word_of("campaigns-why", &word);
    if text == word { code.to_owned() } else { text }
}

/// R429. Those that failed or were skipped by reason: how many, and who they are.
async fn reasons(
    visit: &Visit,
    id: CampaignId,
    filter: RecipientFilter,
) -> Result<Markup, Refusal> {
    if !matches!(filter.status, Some(RecipientStatus::Failed | RecipientStatus::Skipped)) {
        return Ok(html! {});
    }
    let mut found_by: BTreeMap<&'static str, Vec<RecipientView>> = BTreeMap::new();
    let mut counted = 0;
    for page in 1..=COUNTED {
        let request = PageRequest { page, limit: MAX_LIMIT };
        let campaigns = visit.recado.campaigns();
        let found = campaigns.recipients(visit.company.id, id, filter, request).await?;
        let (read, is_empty) = (found.data.len(), found.data.is_empty());
        for recipient in found.data {
            if let Some(fault) = recipient.error_code {
                found_by.entry(fault.as_str()).or_default().push(recipient);
            }
        }
        counted += u64::try_from(read).unwrap_or_default();
        if counted >= found.total || is_empty {
            break;
        }
    }
    let mut reasons: Vec<(&str, Vec<RecipientView>)> = found_by.into_iter().collect();
    reasons.sort_by_key(|(_, people)| std::cmp::Reverse(people.len()));
    Ok(html! {
        @if !reasons.is_empty() {
            h2 { (visit.t("campaigns-reasons")) }
            p.hint { (visit.t_with("campaigns-reasons-of", &[("count", counted.into())])) }
            @for (code, people) in &reasons {
                details {
                    summary { (why(visit, code)) ": " (people.len()) }
                    ul { @for person in people.iter().take(NAMED) { li { (who(visit, person)) } } }
                    @if people.len() > NAMED {
                        p.hint {
                            (visit.t_with("campaigns-reasons-more",
                                &[("count", (people.len() - NAMED).into())]))
                        }
                    }
                }
            }
        }
    })
}
