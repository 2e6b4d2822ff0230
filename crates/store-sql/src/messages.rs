//! Messages, and what the ids that providers give them refer to.

use recado_core::Timestamp;
use recado_core::ids::MessageId;
use recado_core::messages::{
    Blocks, DeliveryCode, Direction, Early, ErrorType, Failure, Media, Message, MessageRef,
    MessageStatus, MessageType, Participant, ProviderMessageId, Quoted, RefTarget, SenderType,
    StatusReport,
};

use crate::cell::{CellReader, CellWriter};
use crate::field::{Field, json_of, texts, words, write_or_null};
use crate::record::record;

record! {
    Message in "messages" key(company_id, id) {
        company("company_id"),
        id,
        created_at,
        contact("contact_id"),
        connection("connection_id"),
        direction,
        message_type,
        sender_type,
        status,
        timestamp,
        is_history,
        sender("sender_id"),
        failure("error_type", "error_code", "error_message"),
        content,
        media: Media {
            url("media_url"),
            source("media_source"),
            document("media_document_id"),
            upload("media_upload_id"),
            mimetype("media_mimetype"),
            filename("media_filename"),
            caption("media_caption"),
        },
        provider_id,
        external_id,
        quoted: Quoted {
            message("quoted_message_id"),
            content("quoted_content"),
            message_type("quoted_type"),
        },
        participant("participant", "participant_phone", "participant_name"),
        blocks,
        template_category,
        prosa("consumption_id", "prosas", "cost", "prosa_scope"),
        edited_at,
    }
    activity { status, timestamp, sender, failure, provider_id }
    // Addresses of gateways hold their tokens.
    sealed Text { "media_source" }
}

record! {
    MessageRef in "message_refs" key(company_id, connection_id, provider_id) {
        company("company_id"),
        connection("connection_id"),
        provider_id,
        target(
            "message_id", "status", "error_type", "error_code", "error_message", "expires_at",
            "early"
        ),
    }
}

words! { DeliveryCode, Direction, ErrorType, MessageStatus, MessageType, SenderType }

texts! {
    ProviderMessageId: ProviderMessageId::as_str,
        |text| Some(ProviderMessageId::from_stored(text.to_owned()));
}

impl Field for Option<Failure> {
    const WIDTH: usize = 3;

    fn write<'a, W: CellWriter<'a>>(&'a self, writer: &mut W) {
        write_failure(self.as_ref(), writer);
    }

    fn read<R: CellReader>(reader: &mut R) -> Result<Self, R::Error> {
        let error_type: Option<ErrorType> = Field::read(reader)?;
        let code: Option<DeliveryCode> = Field::read(reader)?;
        let message = Field::read(reader)?;
        Ok(error_type.zip(code).map(|(error_type, code)| Failure { error_type, code, message }))
    }
}

impl Field for Option<Participant> {
    const WIDTH: usize = 3;

    fn write<'a, W: CellWriter<'a>>(&'a self, writer: &mut W) {
        let participant = self.as_ref();
        write_or_null(participant.map(|participant| &participant.identifier), writer);
        write_or_null(participant.and_then(|participant| participant.phone.as_ref()), writer);
        write_or_null(participant.and_then(|participant| participant.name.as_ref()), writer);
    }

    fn read<R: CellReader>(reader: &mut R) -> Result<Self, R::Error> {
        let identifier: Option<String> = Field::read(reader)?;
        let phone = Field::read(reader)?;
        let name = Field::read(reader)?;
        Ok(identifier.map(|identifier| Participant { identifier, phone, name }))
    }
}

/// No blocks are no value: few messages have any.
impl Field for Blocks {
    const WIDTH: usize = 1;

    fn write<'a, W: CellWriter<'a>>(&'a self, writer: &mut W) {
        if self.is_empty() { writer.null() } else { writer.json(json_of(self).into()) }
    }

    fn read<R: CellReader>(reader: &mut R) -> Result<Self, R::Error> {
        Ok(reader.json()?.unwrap_or_default())
    }
}

fn write_failure<'a, W: CellWriter<'a>>(failure: Option<&'a Failure>, writer: &mut W) {
    write_or_null(failure.map(|failure| &failure.error_type), writer);
    write_or_null(failure.map(|failure| &failure.code), writer);
    write_or_null(failure.and_then(|failure| failure.message.as_ref()), writer);
}

/// The `status` of a row that only remembers the id of a deleted message.
const FORGOTTEN: &str = "forgotten";
/// The `status` of a row for which no status was reported, but something else.
const EARLY: &str = "early";

/// What the `status` of a reference without a message says.
enum Word {
    Reported(MessageStatus),
    Forgotten,
    Early,
}

fn word(text: &str) -> Option<Word> {
    match text {
        FORGOTTEN => Some(Word::Forgotten),
        EARLY => Some(Word::Early),
        status => MessageStatus::parse(status).map(Word::Reported),
    }
}

/// Beside the report, `early` holds what else was reported before the message was known, as JSON.
impl Field for RefTarget {
    const WIDTH: usize = 7;

    fn write<'a, W: CellWriter<'a>>(&'a self, writer: &mut W) {
        let (message, early, expires_at) = match self {
            Self::Message(message) => (Some(message), None, None),
            Self::Early { early, expires_at } => (None, Some(early), Some(expires_at)),
            Self::Forgotten { expires_at } => (None, None, Some(expires_at)),
        };
        let report = early.and_then(|early| early.report.as_ref());
        write_or_null(message, writer);
        match (self, report) {
            (Self::Message(_), _) => writer.null(),
            (Self::Forgotten { .. }, _) => writer.word(FORGOTTEN),
            (Self::Early { .. }, Some(report)) => report.status.write(writer),
            (Self::Early { .. }, None) => writer.word(EARLY),
        }
        write_failure(report.and_then(|report| report.failure.as_ref()), writer);
        write_or_null(expires_at, writer);
        match early.filter(|early| early.has_more()) {
            Some(early) => writer.json(json_of(early).into()),
            None => writer.null(),
        }
    }

    fn read<R: CellReader>(reader: &mut R) -> Result<Self, R::Error> {
        let message: Option<MessageId> = Field::read(reader)?;
        let word = reader.text(word)?;
        let failure = Field::read(reader)?;
        let expires_at: Option<Timestamp> = Field::read(reader)?;
        let more: Option<Early> = reader.json()?;
        let early = |report| Early { report, ..more.unwrap_or_default() };
        match (message, word, expires_at) {
            (Some(message), None, None) => Ok(Self::Message(message)),
            (None, Some(Word::Reported(status)), Some(expires_at)) => {
                let early = early(Some(StatusReport { status, failure }));
                Ok(Self::Early { early, expires_at })
            }
            (None, Some(Word::Early), Some(expires_at)) => {
                Ok(Self::Early { early: early(None), expires_at })
            }
            (None, Some(Word::Forgotten), Some(expires_at)) => Ok(Self::Forgotten { expires_at }),
            _ => Err(reader.unreadable::<Self>()),
        }
    }
}
