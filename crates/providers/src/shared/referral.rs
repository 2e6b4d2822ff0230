//! The advertisement or post that led to a message.

use recado_core::messages::Referral;
use serde_json::Value;

use super::at;
use super::proto::said;

/// The advertisement in a message's context. Programs use the same field for previews of links,
/// which name no source.
pub(crate) fn referral(context: &Value) -> Option<Referral> {
    let ad = at(context, &["externalAdReply"])?;
    let click_id = said(ad, &["ctwaClid", "ctwaCLID"]);
    read(ad, click_id.or_else(|| said(context, &["ctwaClid", "ctwaCLID"])))
}

/// The same, from the fields of an advertisement itself.
pub(crate) fn read(ad: &Value, click_id: Option<String>) -> Option<Referral> {
    let referral = Referral {
        source_type: said(ad, &["sourceType"]),
        source_id: said(ad, &["sourceId", "sourceID"]),
        source_url: said(ad, &["sourceUrl", "sourceURL"]),
        headline: said(ad, &["title"]),
        body: said(ad, &["body", "description"]),
        media_url: said(ad, &["mediaUrl", "mediaURL", "thumbnailUrl", "thumbnailURL"]),
        click_id,
    };
    let names_source = [&referral.source_type, &referral.source_id, &referral.click_id];
    names_source.iter().any(|name| name.is_some()).then_some(referral)
}
