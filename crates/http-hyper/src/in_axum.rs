//! For own routes in axum besides the surface: the caller of a request, and errors in the form of
//! the API.

use std::ops::Deref;

use axum::body::Body;
use axum::extract::{FromRef, FromRequestParts};
use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use http::request::Parts;
use recado_core::access::{Caller, Denied};
use recado_core::store::StoreError;
use recado_core::{Error, Installation, Rejection};

use crate::bearer::bearer;
use crate::error::ErrorResponse;
use crate::pipeline::charge;
use crate::{logging, request_id};

/// The caller of a request by its API key, as the public API finds it (D6): the key is looked up
/// (401), the plan of its company has to include the API (403), and the call is charged to the
/// key's allowance (429). Scopes are checked by the use cases that get the caller, or by
/// [`Caller::require`].
///
/// The state of the router has to be an [`Installation`], or contain one
/// ([`FromRef`](axum::extract::FromRef)).
///
/// ```
/// use axum::{Router, extract::State, routing::get};
/// use recado_core::{Installation, audit::Acting};
/// use recado_http_hyper::{ApiCaller, ApiError};
///
/// async fn hello(caller: ApiCaller, State(core): State<Installation>) -> Result<String, ApiError> {
///     let recado = core.by(Acting::caller(&caller, "hello"));
///     let company = recado.access().company(caller.company()).await?;
///     Ok(format!("Hello, {}", company.name))
/// }
///
/// let routes: Router<Installation> = Router::new().route("/hello", get(hello));
/// # drop(routes);
/// ```
#[derive(Clone, Debug)]
pub struct ApiCaller(pub Caller);

impl Deref for ApiCaller {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.0
    }
}

impl<S> FromRequestParts<S> for ApiCaller
where
    S: Send + Sync,
    Installation: FromRef<S>,
{
    type Rejection = ApiError;

    async fn from_request_parts(head: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let installation = Installation::from_ref(state);
        let presented = bearer(&head.headers).unwrap_or_default();
        let caller = installation.entrance().caller(presented).await?;
        caller.require_public_api()?;
        charge(&installation, &caller, false).await.map_err(ApiError)?;
        Ok(Self(caller))
    }
}

/// A refusal of the core as an answer of the API: the status, body and headers of its code, and an
/// `X-Request-Id`, which the log has too if the cause is a failure of the server. Use it with `?`
/// on the result of a use case.
#[derive(Debug)]
pub struct ApiError(ErrorResponse);

impl<E: Rejection> From<Error<E>> for ApiError {
    fn from(error: Error<E>) -> Self {
        Self(error.into())
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        Self(error.into())
    }
}

impl From<Denied> for ApiError {
    fn from(denied: Denied) -> Self {
        Self(ErrorResponse::rejected(&denied))
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let id = request_id::of(&HeaderMap::new());
        logging::failed(&id, "outside of the API", &self.0);
        let mut response = self.0.into_response();
        response.headers_mut().insert(request_id::HEADER, id);
        response.map(Body::from)
    }
}
