//! Answers on the wire: the envelope of every success (1, 4.11, D4).

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Response, StatusCode};
use recado_core::contacts::Warning;
use recado_core::documents::FileReader;
use serde::Serialize;

use crate::answer_body::{AnswerBody, Made};
use crate::error::{ErrorResponse, Outcome};
use crate::readers::ReaderSlot;

/// A success, ready to be written.
#[derive(Debug)]
pub(crate) struct Answer {
    status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Content,
}

/// What an answer holds.
#[derive(Debug)]
enum Content {
    Bytes(Bytes),
    /// A file, which is read as the answer is written.
    File(FileReader, Option<ReaderSlot>),
    /// What is made as the answer is written; its length is not known.
    Made(Made),
    /// Only the length of a body, of an answer to HEAD.
    Length(u64),
    /// A body whose length is not known, of an answer to HEAD.
    Unknown,
    /// The answer of another cell, whole (R460).
    Passed(Box<Response<AnswerBody>>),
}

#[derive(Serialize)]
struct SuccessBody<'a, T, P> {
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pagination: Option<P>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warnings: &'a [Warning],
}

impl Answer {
    /// 200 with `data`.
    pub(crate) fn ok(data: impl Serialize) -> Outcome {
        Self::envelope(StatusCode::OK, Some(data), None::<()>, &[])
    }

    /// 200 with `data` and, where there are any, `warnings` (D20).
    pub(crate) fn ok_with(data: impl Serialize, warnings: &[Warning]) -> Outcome {
        Self::envelope(StatusCode::OK, Some(data), None::<()>, warnings)
    }

    /// 200 with `data` and `pagination` (4.11).
    pub(crate) fn page(data: impl Serialize, pagination: impl Serialize) -> Outcome {
        Self::envelope(StatusCode::OK, Some(data), Some(pagination), &[])
    }

    /// 200 with a body that has its own root fields beside `success`.
    pub(crate) fn root(body: impl Serialize) -> Outcome {
        #[derive(Serialize)]
        struct Root<T> {
            success: bool,
            #[serde(flatten)]
            body: T,
        }
        Self::json(StatusCode::OK, &Root { success: true, body })
    }

    /// 200 with the flat body of a hook: its own fields beside `ok` (4.9, 4.10).
    pub(crate) fn hook(body: impl Serialize) -> Outcome {
        #[derive(Serialize)]
        struct Root<T> {
            ok: bool,
            #[serde(flatten)]
            body: T,
        }
        Self::json(StatusCode::OK, &Root { ok: true, body })
    }

    /// An answer that was given before, marked as a repeat (D37).
    pub(crate) fn replayed(status: StatusCode, body: String) -> Self {
        let replayed = HeaderName::from_static("idempotent-replayed");
        Self { status, ..Self::bytes("application/json", body) }
            .unkept()
            .with_header(replayed, HeaderValue::from_static("true"))
    }

    /// 201 with `data`.
    pub(crate) fn created(data: impl Serialize) -> Outcome {
        Self::created_with(data, &[])
    }

    /// 201 with `data` and, where there are any, `warnings` (D20).
    pub(crate) fn created_with(data: impl Serialize, warnings: &[Warning]) -> Outcome {
        Self::envelope(StatusCode::CREATED, Some(data), None::<()>, warnings)
    }

    /// 200 without `data`.
    pub(crate) fn done() -> Outcome {
        Self::envelope(StatusCode::OK, None::<()>, None::<()>, &[])
    }

    /// 200 with a body that is no envelope.
    pub(crate) fn bytes(content_type: &'static str, body: impl Into<Bytes>) -> Self {
        let content_type = (CONTENT_TYPE, HeaderValue::from_static(content_type));
        let body = Content::Bytes(body.into());
        Self { status: StatusCode::OK, headers: vec![content_type], body }
    }

    /// The bytes of a file that are still to come. The slot is kept until they were written.
    pub(crate) fn file(
        status: StatusCode,
        content_type: &'static str,
        reader: FileReader,
        slot: Option<ReaderSlot>,
    ) -> Self {
        let body = Content::File(reader, slot);
        Self { status, body, ..Self::bytes(content_type, Bytes::new()) }
    }

    /// 200 with bytes that are made as they are written.
    pub(crate) fn made(content_type: &'static str, made: Made) -> Self {
        Self { body: Content::Made(made), ..Self::bytes(content_type, Bytes::new()) }
    }

    /// The answer to HEAD for a file of so many bytes.
    pub(crate) fn head_of(content_type: &'static str, bytes: u64) -> Self {
        Self { body: Content::Length(bytes), ..Self::bytes(content_type, Bytes::new()) }
    }

    /// The answer to HEAD for what is made as it is read: how long it gets is not known.
    pub(crate) fn head(content_type: &'static str) -> Self {
        Self { body: Content::Unknown, ..Self::bytes(content_type, Bytes::new()) }
    }

    /// What another cell has answered (R460).
    pub(crate) fn passed(response: Response<AnswerBody>) -> Self {
        Self { body: Content::Passed(Box::new(response)), ..Self::empty(StatusCode::OK) }
    }

    /// An answer without a body.
    pub(crate) fn empty(status: StatusCode) -> Self {
        Self { status, headers: Vec::new(), body: Content::Bytes(Bytes::new()) }
    }

    /// The same with another header.
    #[must_use]
    pub(crate) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// The same, which caches must not store, as it is about people.
    pub(crate) fn unkept(self) -> Self {
        self.with_header(CACHE_CONTROL, HeaderValue::from_static("no-store"))
    }

    fn envelope(
        status: StatusCode,
        data: Option<impl Serialize>,
        pagination: Option<impl Serialize>,
        warnings: &[Warning],
    ) -> Outcome {
        let envelope = SuccessBody { success: true, data, pagination, warnings };
        Self::json(status, &envelope)
    }

    fn json(status: StatusCode, body: &impl Serialize) -> Outcome {
        let body = serde_json::to_vec(body).map_err(|error| {
            ErrorResponse::internal(format!("an answer cannot be written: {error}"))
        })?;
        Ok(Self { status, ..Self::bytes("application/json", body) }.unkept())
    }

    /// Its status and its body, for a repeat; files are in no answer that is repeated.
    pub(crate) fn written(&self) -> (StatusCode, String) {
        let body = match &self.body {
            Content::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Content::File(..)
            | Content::Made(_)
            | Content::Length(_)
            | Content::Unknown
            | Content::Passed(_) => String::new(),
        };
        (self.status, body)
    }

    /// Writes the answer.
    pub(crate) fn into_response(self) -> Response<AnswerBody> {
        let (length, body) = match self.body {
            Content::Bytes(bytes) => (Some(bytes.len() as u64), AnswerBody::whole(bytes)),
            Content::File(reader, slot) => (Some(reader.left()), AnswerBody::file(reader, slot)),
            Content::Made(made) => (None, AnswerBody::made(made)),
            Content::Length(bytes) => (Some(bytes), AnswerBody::whole(Bytes::new())),
            Content::Unknown => (None, AnswerBody::whole(Bytes::new())),
            Content::Passed(response) => return *response,
        };
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        if let Some(length) = length {
            response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
        }
        for (name, value) in self.headers {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

/// A JSON body with its headers.
pub(crate) fn json_response(status: StatusCode, body: String) -> Response<Bytes> {
    let body = Bytes::from(body);
    let answer = Answer { status, ..Answer::bytes("application/json", body.clone()) };
    answer.unkept().into_response().map(|_| body)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use http_body_util::BodyExt;

    use super::*;

    fn text(outcome: Outcome) -> String {
        let response = outcome.expect("an answer").into_response();
        assert_eq!(response.headers()["content-type"], "application/json");
        let length = response.headers()["content-length"].clone();
        let body = response.into_body().collect().now_or_never().expect("nothing waits");
        let body = body.expect("whole").to_bytes();
        assert_eq!(length, body.len().to_string());
        String::from_utf8(body.to_vec()).expect("utf-8")
    }

    #[test]
    fn an_envelope_holds_only_what_there_is() {
        assert_eq!(text(Answer::ok([1, 2])), r#"{"success":true,"data":[1,2]}"#);
        assert_eq!(text(Answer::done()), r#"{"success":true}"#);
        assert_eq!(text(Answer::created_with(1, &[])), r#"{"success":true,"data":1}"#);
    }

    #[test]
    fn warnings_stand_at_the_root() {
        let warning = Warning { code: "C", field: "f".into(), message: "m".into() };
        assert_eq!(
            text(Answer::ok_with(0, &[warning])),
            r#"{"success":true,"data":0,"warnings":[{"code":"C","field":"f","message":"m"}]}"#
        );
    }
}
