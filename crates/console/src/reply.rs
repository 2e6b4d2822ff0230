//! What a handler answers.

use http::header::{CONTENT_TYPE, HeaderValue, LOCATION};
use http::{Response, StatusCode};
use maud::Markup;

use crate::body::ConsoleBody;
use crate::refusal::Refusal;
use crate::view::layout::Area;

/// What a handler answers.
pub(crate) type Outcome = Result<Reply, Refusal>;

/// An answer.
#[derive(Debug)]
pub(crate) enum Reply {
    /// A page within the layout.
    Page(Page),
    /// A piece of a page, for htmx.
    Piece(StatusCode, Markup),
    /// Another page of the console.
    Goto(String),
    /// Anything else, as it is.
    Raw(Response<ConsoleBody>),
}

/// A page within the layout.
#[derive(Debug)]
pub(crate) struct Page {
    /// The entry of the navigation it belongs to.
    pub(crate) area: Area,
    /// Its title and heading.
    pub(crate) title: String,
    /// What stands below the heading.
    pub(crate) body: Markup,
    /// The status of the answer.
    pub(crate) status: StatusCode,
}

impl Reply {
    /// A page.
    pub(crate) fn page(area: Area, title: impl Into<String>, body: Markup) -> Outcome {
        Ok(Self::Page(Page { area, title: title.into(), body, status: StatusCode::OK }))
    }

    /// A page with a form that was refused.
    pub(crate) fn refused(area: Area, title: impl Into<String>, body: Markup) -> Outcome {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        Ok(Self::Page(Page { area, title: title.into(), body, status }))
    }

    /// A piece of a page.
    pub(crate) const fn piece(body: Markup) -> Outcome {
        Ok(Self::Piece(StatusCode::OK, body))
    }

    /// Another page of the console.
    pub(crate) fn goto(path: impl Into<String>) -> Outcome {
        Ok(Self::Goto(path.into()))
    }
}

/// HTML.
pub(crate) fn html(status: StatusCode, markup: Markup) -> Response<ConsoleBody> {
    let body = ConsoleBody::whole(markup.into_string());
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, html);
    response
}

/// Leads to another path: htmx is told in a header of its own.
pub(crate) fn redirect(path: &str, is_piece: bool) -> Response<ConsoleBody> {
    let mut response = Response::new(ConsoleBody::whole(""));
    let value = HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static("/console"));
    if is_piece {
        response.headers_mut().insert("hx-redirect", value);
    } else {
        *response.status_mut() = StatusCode::SEE_OTHER;
        response.headers_mut().insert(LOCATION, value);
    }
    response
}
