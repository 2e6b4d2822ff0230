//! Sending a template by API (D40).

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::draft::require;
use super::{Order, SendAddress, SendError, SendRecipient, Sending, SentView};
use crate::access::{Caller, Scope};
use crate::body::{IntoBody, Optional, OrDefault, Required, body};
use crate::connections::Connection;
use crate::contacts::Region;
use crate::error::Error;
use crate::form::{Destination, Form, Short, Text};
use crate::ids::{ConnectionId, ContactId, TemplateId};
use crate::store::RecordsExt;
use crate::templates::{
    ComposeError, Template, TemplateStatus, choose, compose, position as position_of,
};
use crate::text;

/// The most entries of `variables`.
const MAX_VARIABLES: usize = 100;
/// The longest name of a template.
const NAME_CHARS: usize = 512;

/// The body of a template send, read.
#[derive(Clone, PartialEq, Eq)]
pub struct SendTemplateDraft {
    /// The recipient.
    pub to: SendAddress,
    /// The name or id of the template.
    pub template: String,
    /// The language that was asked for.
    pub language: Option<String>,
    /// The variables by position.
    pub variables: BTreeMap<u32, String>,
    /// The connection that was asked for.
    pub connection: Option<ConnectionId>,
}

impl std::fmt::Debug for SendTemplateDraft {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TemplateDraft").field("template", &self.template).finish_non_exhaustive()
    }
}

impl SendTemplateDraft {
    /// Reads `to` or `contact_id`, `template`, `language?`, `variables?`, `connection_id?`.
    ///
    /// # Errors
    ///
    /// In this order: missing fields (null, empty and blank included), all fields of the wrong
    /// type, form or length, a `to` that is no phone. A group code is no phone.
    pub fn parse(
        body: impl IntoBody<SendTemplate>,
        group_suffix: &str,
        region: &Region,
    ) -> Result<Self, SendError> {
        let body = &*body.into_map();
        require(body, &["template"])?;
        let SendTemplate { template, to, contact, language, variables, connection } =
            SendTemplate::parse(body)?;
        let to = SendAddress::read(to.as_deref(), contact, group_suffix, region)?;
        if let SendAddress::To(SendRecipient::Group(_))
        | SendAddress::Both(SendRecipient::Group(_), _) = to
        {
            return Err(SendError::InvalidPhone);
        }
        Ok(Self { to, template, language, variables, connection })
    }
}

/// Variables by position: `{"1": "Ana", "2": "…"}`.
pub(crate) struct Variables;

impl Form for Variables {
    type Value = BTreeMap<u32, String>;

    fn read(value: &Value) -> Result<BTreeMap<u32, String>, String> {
        let entries = value.as_object().ok_or("must be an object of strings by position")?;
        if entries.len() > MAX_VARIABLES {
            return Err(format!("may hold at most {MAX_VARIABLES} entries"));
        }
        let read = |(position, value): (&String, &Value)| {
            let position = position_of(position);
            let value = value.as_str().and_then(|value| text::clean(value, text::MESSAGE).ok());
            position.zip(value).ok_or_else(|| "must be an object of strings by position".to_owned())
        };
        entries.iter().map(read).collect()
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::openapi::texts_by_name()
    }
}

body! {
    /// A template to a person.
    #[derive(Clone, PartialEq, Eq)]
    pub struct SendTemplate as "SendTemplate" {
        /// Its name or id.
        template: String = Required<Text<NAME_CHARS>>,
        /// A phone; a group is none. Needed where there is no `contact_id`.
        to: Option<String> = Optional<Destination>,
        /// The contact, in place of `to`: it is reached by the name that the connection's channel
        /// knows it by. Where both are given they have to mean one contact.
        contact as "contact_id": Option<ContactId> = Optional<ContactId>,
        /// `pt_BR` by default, else the template's oldest.
        language: Option<String> = Optional<Short>,
        /// By position.
        variables: BTreeMap<u32, String> = OrDefault<Variables>,
        connection as "connection_id": Option<ConnectionId> = Optional<ConnectionId>,
    }
}

/// The answer to a template send (D40).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct TemplateSentView {
    /// What every send answers.
    #[serde(flatten)]
    pub sent: SentView,
    /// The template that was sent.
    pub template_id: TemplateId,
}

impl From<ComposeError> for SendError {
    fn from(error: ComposeError) -> Self {
        Self::Invalid(error.problems())
    }
}

impl Sending<'_> {
    /// Sends an approved template to a phone or contact (D40, D71). There is no duplicate window,
    /// and the contact's external AI may be off. Durability and events are those of
    /// [`Sending::send_text`].
    ///
    /// # Errors
    ///
    /// [`SendError`]: missing fields, then types, the phone, the connection, the template, its
    /// approval, the variables; then as for a text.
    pub async fn send_template(
        &self,
        caller: &Caller,
        body: impl IntoBody<SendTemplate>,
    ) -> Result<TemplateSentView, Error<SendError>> {
        caller.require(Scope::MessagesSend)?;
        let (store, company) = (self.app.store(), caller.company());
        let suffix = &self.app.settings().group_suffix;
        let draft =
            SendTemplateDraft::parse(body, suffix, caller.region()).map_err(Error::Rejected)?;
        let (target, contact) = self.target(company, draft.to).await?;
        if let Some(id) = draft.connection
            && store.get::<Connection>((company, id)).await?.is_none()
        {
            return Err(Error::Rejected(SendError::ConnectionNotFound));
        }
        let templates = store.all_stored::<Template>(company).await?;
        let language = draft.language.as_deref();
        let template = choose(&templates, &draft.template, language, draft.connection)
            .ok_or(Error::Rejected(SendError::TemplateNotFound))?;
        if template.status != TemplateStatus::Approved {
            return Err(Error::Rejected(SendError::TemplateNotApproved));
        }
        let composed = compose(template, &draft.variables)
            .map_err(|error| Error::Rejected(SendError::from(error)))?;
        let order = Order::template(company, target, composed);
        let connection = order.connection.or(draft.connection);
        let order = Order { connection, contact, ..order };
        let delivered = self.deliver(order).await?;
        Ok(TemplateSentView { sent: SentView::from(&delivered), template_id: template.id })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(body: Value) -> Result<SendTemplateDraft, SendError> {
        let body = body.as_object().expect("an object").clone();
        SendTemplateDraft::parse(&body, "g.us", &Region::br())
    }

    #[test]
    fn what_is_missing_comes_before_types_and_types_before_the_phone() {
        let missing = parse(json!({"to": " ", "variables": 5}));
        assert_eq!(missing, Err(SendError::MissingField(vec!["to", "template"])));
        let wrong = parse(json!({"to": "no phone", "template": "t", "variables": 5, "x": 1}));
        let Err(SendError::Invalid(problems)) = wrong else { panic!("not refused") };
        assert_eq!(problems.fields().collect::<Vec<_>>(), ["variables", "x"]);
        let phone = parse(json!({"to": "no phone", "template": "t"}));
        assert_eq!(phone, Err(SendError::InvalidPhone));
    }

    #[test]
    fn a_group_is_no_phone() {
        let group = parse(json!({"to": "120363041234567890@g.us", "template": "t"}));
        assert_eq!(group, Err(SendError::InvalidPhone));
    }

    #[test]
    fn variables_are_strings_by_position() {
        assert!(Variables::read(&json!({"1": "Ana", "2": "Rex"})).is_ok());
        for wrong in [json!(["Ana"]), json!({"0": "Ana"}), json!({"x": "Ana"}), json!({"1": 5})] {
            assert!(Variables::read(&wrong).is_err(), "{wrong}");
        }
    }
}
