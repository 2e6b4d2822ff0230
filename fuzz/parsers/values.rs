//! The values of a contact: what is accepted is accepted again as it is kept, and stays the same.

use recado_core::Timestamp;
use recado_core::contacts::{
    Birthday, ChannelKey, Cpf, Email, Identifier, Phone, PostalCode, Region, SearchQuery,
    SearchText, normalize,
};
use recado_core::organizations::Cnpj;
use recado_core::webhooks::WebhookUrl;

/// Takes one input.
pub(crate) fn take(text: &str) {
    if let Ok(email) = Email::parse(text) {
        assert_eq!(Email::parse(email.as_str()), Ok(email));
    }
    if let Ok(cpf) = Cpf::parse(text) {
        assert_eq!(Cpf::parse(cpf.as_str()), Ok(cpf));
    }
    if let Ok(cnpj) = Cnpj::parse(text) {
        assert_eq!(Cnpj::parse(cnpj.as_str()), Ok(cnpj));
    }
    if let Ok(code) = PostalCode::parse(text) {
        assert_eq!(PostalCode::parse(code.as_str()), Ok(code));
    }
    if let Ok(birthday) = Birthday::parse(text) {
        assert_eq!(Birthday::parse(&birthday.to_string()), Ok(birthday));
    }
    if let Some(identifier) = Identifier::parse(text) {
        assert_eq!(Identifier::parse(identifier.as_str()), Some(identifier));
    }
    for region in ["BR", "PT", "US"] {
        let region = Region::parse(region).expect("a region");
        if let Ok(phone) = Phone::parse(text, &region) {
            // The E.164 form means the same number in every region.
            assert_eq!(Phone::parse(phone.as_str(), &Region::br()), Ok(phone.clone()));
            assert!(phone.aliases().iter().any(|alias| alias == phone.digits()));
        }
    }
    if let Some(at) = Timestamp::parse(text) {
        assert_eq!(Timestamp::parse(&at.to_string()), Some(at));
    }
    let _ = ChannelKey::parse(text);
    if let Ok(url) = WebhookUrl::parse(text) {
        assert_eq!(WebhookUrl::parse(url.as_str()), Ok(url));
    }
    let folded = normalize(text);
    assert_eq!(normalize(&folded), folded);
    // Whoever searches a whole name finds its contact.
    if let Ok(Some(query)) = SearchQuery::parse(text) {
        let indexed = SearchText::of(text.trim(), "", None, "", None);
        assert!(query.matches(&indexed), "{:?} in {indexed:?}", query.needles());
    }
}
