//! Sending a template by API (D40).

use serde::Serialize;

use super::draft::require;
use super::{Order, SendAddress, SendError, SendRecipient, Sending, SentView};
use crate::access::{Caller, Scope};
use crate::body::{IntoBody, Optional, OrDefault, Required, body};
use crate::connections::Connection;
use crate::contacts::Region;
use crate::error::Error;
use crate::form::{Destination, Short, Text};
use crate::ids::{ConnectionId, ContactId, MessageId, TemplateId};
use crate::messages::MessageType;
use crate::store::RecordsExt;
use crate::templates::{
    ButtonValue, ButtonValues, ComposeError, HeaderValue, HeaderValueDraft, Template,
    TemplateStatus, TemplateValues, VariableValues, Variables, choose, compose,
};

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
    /// What is given with it.
    pub values: TemplateValues,
    /// The connection that was asked for.
    pub connection: Option<ConnectionId>,
    /// The message that it answers.
    pub quoted: Option<MessageId>,
}

impl std::fmt::Debug for SendTemplateDraft {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TemplateDraft").field("template", &self.template).finish_non_exhaustive()
    }
}

impl SendTemplateDraft {
    /// Reads `to` or `contact_id`, `template`, `language?`, `variables?`, `header?`, `buttons?`,
    /// `connection_id?`, `quoted_message_id?`.
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
        let SendTemplate {
            template,
            to,
            contact,
            language,
            variables,
            header,
            buttons,
            connection,
            quoted,
        } = SendTemplate::parse(body)?;
        let values = TemplateValues { variables, header, buttons };
        let to = SendAddress::read(to.as_deref(), contact, group_suffix, region)?;
        if let SendAddress::To(SendRecipient::Group(_))
        | SendAddress::Both(SendRecipient::Group(_), _) = to
        {
            return Err(SendError::InvalidPhone);
        }
        Ok(Self { to, template, language, values, connection, quoted })
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
        /// By position or name.
        variables: VariableValues = OrDefault<Variables>,
        /// What the template's header needs.
        header: Option<HeaderValue> = Optional<HeaderValueDraft>,
        /// What the template's buttons need.
        buttons: Vec<ButtonValue> = OrDefault<ButtonValues>,
        connection as "connection_id": Option<ConnectionId> = Optional<ConnectionId>,
        /// The message of this contact that it answers.
        quoted as "quoted_message_id": Option<MessageId> = Optional<MessageId>,
    }
}

/// The answer to a template send (D40, R370).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct TemplateSentView {
    /// What every send answers.
    #[serde(flatten)]
    pub sent: SentView,
    /// What the message is: a template.
    #[serde(rename = "type")]
    pub message_type: MessageType,
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
    /// and the contact's external AI may be off. It may answer a message, as a text may (R370).
    /// Durability and events are those of [`Sending::send_text`].
    ///
    /// # Errors
    ///
    /// [`SendError`]: missing fields, then types, the phone, the quoted message, the connection,
    /// the template, its approval, the variables; then as for a text.
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
        let quoted = self.quoted(company, draft.quoted).await?;
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
        let composed = compose(template, &draft.values)
            .map_err(|error| Error::Rejected(SendError::from(error)))?;
        let file = composed.file.clone();
        let order = Order::template(company, target, composed);
        let connection = order.connection.or(draft.connection);
        let order = Order { connection, contact, quoted, ..order };
        let delivered = self.deliver_with_file(order, file).await?;
        Ok(TemplateSentView {
            sent: SentView::from(&delivered),
            message_type: delivered.message.message_type,
            template_id: template.id,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

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
}
