//! Searches: every store finds exactly the contacts that the model finds (D24).

use recado_core::contacts::{Contact, ContactFilter, CrmStatus, Email};

use super::Harness;
use super::contacts_listing::{assert_small_pages, ids, in_order};
use super::scene::{Scene, at, first, search};

async fn people(scene: &Scene) -> Vec<Contact> {
    let names = [
        "João da Conceição",
        "JOAO CONCEICAO",
        "Ana",
        "Ana Paula",
        "Mariana",
        "D’Ávila & Filhos",
        "D'Avila",
        "Straße 12",
        "Łódź",
        "İstanbul",
        "東京 太郎",
        "100% Café",
        "100 Café",
        "a_b",
        "axb",
        "a\\b",
        "a\"b",
        "a*b",
        "Zé",
        "Z",
        "Sala 3499",
        "👩‍👩‍👧 Família",
        "(34) 99123",
        "x\ny",
        "",
    ];
    let phones = ["+5534991234567", "+5511987654321", "+551133224455", "+12025550123"];
    let mut contacts: Vec<Contact> = names
        .into_iter()
        .enumerate()
        .map(|(n, name)| {
            let mut contact = scene.contact_named(&format!("lid-{n}"));
            contact.name = name.to_owned();
            contact.last_message_at = (n % 2 == 0).then(|| at(n as i64));
            contact
        })
        .chain(phones.map(|phone| scene.contact_with_phone(phone)))
        .collect();
    contacts[2].email = Email::parse("ana_paula+loja@padaria.com.br").ok();
    contacts[4].wa_push_name = Some("Mari".to_owned());
    contacts.iter_mut().for_each(Contact::derive);
    scene.add_all(contacts.clone()).await;
    contacts
}

async fn check(scene: &Scene, contacts: &[Contact], query: &str) -> usize {
    let filter = search(query);
    let found = |contact: &&Contact| {
        filter.search.as_ref().is_none_or(|search| search.matches(&contact.search_text()))
    };
    let wanted = in_order(contacts.iter().filter(found));
    let slice = scene.page(&filter, 1, 100).await;
    assert_eq!(ids(&slice), wanted, "searching {query:?}");
    assert_eq!(slice.total, wanted.len() as u64, "searching {query:?}");
    assert_small_pages(scene, &filter, &wanted).await;
    wanted.len()
}

/// Accents, case, parts of words, e-mails, identifiers.
pub async fn searches_answer_as_the_model_does(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contacts = people(&scene).await;
    let queries = [
        "joao",
        "JOÃO",
        "jo\u{e3}o",
        "joa\u{303}o",
        "conceicao",
        "da con",
        "ana",
        "ANA",
        "nap",
        "paula",
        "d'avila",
        "d’Ávila",
        "strasse",
        "STRAßE",
        "lodz",
        "istanbul",
        "東京",
        "太郎",
        "padaria",
        "ana_paula+",
        "@padaria.com",
        "lid-1",
        "lid-10",
        "cafe",
        "100%",
        "família",
        "👩‍👩‍👧",
        "nobody at all",
        "x y",
        "  ana  ",
        "sala 3499",
        "3499",
    ];
    let mut hits = 0;
    for query in queries {
        hits += check(&scene, &contacts, query).await;
    }
    assert!(hits > queries.len(), "the searches find something");
}

/// A trigram index has no entry for such short texts; the answer must still be right (R4).
pub async fn one_and_two_characters_find_too(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contacts = people(&scene).await;
    for query in
        ["a", "z", "Z", "é", "e", "jo", "ão", "zé", "東", "太郎", "5", "34", "99", "%", "b"]
    {
        check(&scene, &contacts, query).await;
    }
    assert!(check(&scene, &contacts, "z").await >= 2);
    assert!(check(&scene, &contacts, "zé").await >= 1);
}

/// D24: searches by digits, with any punctuation, with and without the ninth digit.
pub async fn phones_are_found_with_and_without_the_ninth_digit(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contacts = people(&scene).await;
    let number = contacts.iter().find(|contact| contact.phone.is_some());
    let number = number.expect("there are phones").id;
    for query in [
        "+5534991234567",
        "34991234567",
        "3491234567",
        "(34) 99123-4567",
        "(34) 9123-4567",
        "91234567",
        "9123-4567",
        "1234-567",
        "567",
    ] {
        assert!(check(&scene, &contacts, query).await >= 1, "{query}");
        assert!(ids(&scene.page(&search(query), 1, 100).await).contains(&number), "{query}");
    }
    for query in ["(34) 99", "3499", "3322-4455", "202 555", "+1 202", "55", "(", "+"] {
        check(&scene, &contacts, query).await;
    }
}

/// No character of a search is a wildcard.
pub async fn special_characters_mean_themselves(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contacts = people(&scene).await;
    for query in [
        "100%", "0% c", "%", "_", "a_b", "a_", "\\", "a\\b", "\"", "a\"b", "*", "a*b", "a*", "'",
        "'a", "d'a", "a.b", "[a-z]", "^a", "a$", "(34", "a OR b", "a AND b", "NOT a", "NEAR", "-a",
        "a:b", "{a}", "&", "|", "!", "?", "??",
    ] {
        check(&scene, &contacts, query).await;
    }
    for (query, hits) in [("a_b", 1), ("a*b", 1), ("a\\b", 1), ("a\"b", 1), ("100%", 1)] {
        assert_eq!(check(&scene, &contacts, query).await, hits, "{query}");
    }
}

/// A search can be combined with the other filters.
pub async fn a_search_goes_together_with_filters_and_pages(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let mut contacts = Vec::new();
    for n in 0..30 {
        let mut contact = scene.contact();
        contact.name = if n % 3 == 0 { format!("Bia {n}") } else { format!("Ana {n}") };
        contact.crm_status = if n % 2 == 0 { CrmStatus::Lead } else { CrmStatus::Customer };
        contact.last_message_at = (n % 4 != 0).then(|| at(n));
        contact.derive();
        contacts.push(contact);
    }
    scene.add_all(contacts.clone()).await;
    for query in ["ana", "a", "ana 1"] {
        let crm_status = Some(CrmStatus::Lead);
        let filter = ContactFilter { crm_status, ..search(query) };
        let needle = query.to_owned();
        let wanted = in_order(contacts.iter().filter(|contact| {
            contact.facets().pass(&filter) && contact.name.to_lowercase().contains(&needle)
        }));
        let mut seen = Vec::new();
        for page in 1..=wanted.len().div_ceil(3) {
            let slice = scene.page(&filter, page as u32, 3).await;
            assert_eq!(slice.total, wanted.len() as u64);
            seen.extend(ids(&slice));
        }
        assert_eq!(seen, wanted, "{query}");
    }
}

/// A contact is not found by values that it no longer has.
pub async fn an_updated_or_deleted_contact_is_found_as_it_is_now(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let mut contact = scene.contact();
    contact.name = "Gertrudes".to_owned();
    contact.derive();
    scene.add(contact.clone()).await;
    assert_eq!(scene.total(&search("gertrudes")).await, 1);
    let renamed = first(contact.clone()).changed(at(1), |c| c.name = "Ana".to_owned());
    scene.apply(first(contact.clone()).update(renamed)).await;
    for (query, hits) in [("gertrudes", 0), ("ge", 0), ("ana", 1), ("an", 1)] {
        assert_eq!(scene.total(&search(query)).await, hits, "{query}");
    }
    scene.apply(scene.stored(contact.id).await.delete()).await;
    for query in ["gertrudes", "ana", "an"] {
        assert_eq!(scene.total(&search(query)).await, 0, "{query}");
    }
}

/// An export takes the same searches.
pub async fn an_export_can_be_searched(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contacts = people(&scene).await;
    for query in ["ana", "a", "(34) 99", "100%", "nobody at all"] {
        let filter = search(query);
        let search = filter.search.clone().expect("not empty");
        let mut wanted: Vec<_> = contacts
            .iter()
            .filter(|contact| search.matches(&contact.search_text()))
            .map(|contact| (contact.created_at, contact.id))
            .collect();
        wanted.sort();
        let slice = scene.store.contact_export(scene.company, &filter, None, 100, false).await;
        let slice = slice.expect("the store works");
        let found: Vec<_> =
            slice.records.iter().map(|r| (r.contact.created_at, r.contact.id)).collect();
        assert_eq!(found, wanted, "{query}");
        assert_eq!(slice.total, wanted.len() as u64, "{query}");
    }
}
