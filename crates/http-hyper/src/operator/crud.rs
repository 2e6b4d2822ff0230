//! The five routes that most records of a company have. Each has its path, the use case it calls as
//! `use_cases.method` (with the type of the id if it is about one record), and its documentation.
//!
//! `get!(ONE, tags.get(TagId), |op| …)` is a `GET` of `ONE` that answers
//! `recado.tags().get(company, id)`.

/// Lists all.
macro_rules! list {
    ($action:ident, $path:expr, $cases:ident.$method:ident, $doc:expr $(,)?) => {
        crate::route::Route::company(
            crate::route::verb::GET,
            $path,
            recado_core::access::OperatorAction::$action,
            |c| {
                Box::pin(async move {
                    crate::answer::Answer::ok(c.recado.$cases().$method(c.who.id).await?)
                })
            },
            $doc,
        )
    };
}

/// Makes one.
macro_rules! create {
    ($action:ident, $path:expr, $cases:ident.$method:ident, $doc:expr $(,)?) => {
        crate::route::Route::company(
            crate::route::verb::POST,
            $path,
            recado_core::access::OperatorAction::$action,
            |c| {
                Box::pin(async move {
                    let made = c.recado.$cases().$method(c.who.id, &c.body).await?;
                    crate::answer::Answer::created(made)
                })
            },
            $doc,
        )
        .json()
    };
}

/// Reads one.
macro_rules! get {
    ($action:ident, $path:expr, $cases:ident.$method:ident($id:ident), $doc:expr $(,)?) => {
        crate::route::Route::company(
            crate::route::verb::GET,
            $path,
            recado_core::access::OperatorAction::$action,
            |c| {
                Box::pin(async move {
                    let id = c.path.id("id", $id::parse);
                    crate::answer::Answer::ok(c.recado.$cases().$method(c.who.id, id).await?)
                })
            },
            $doc,
        )
    };
}

/// Changes one.
macro_rules! change {
    ($action:ident, $path:expr, $cases:ident.$method:ident($id:ident), $doc:expr $(,)?) => {
        crate::route::Route::company(
            crate::route::verb::PATCH,
            $path,
            recado_core::access::OperatorAction::$action,
            |c| {
                Box::pin(async move {
                    let id = c.path.id("id", $id::parse);
                    let changed = c.recado.$cases().$method(c.who.id, id, &c.body).await?;
                    crate::answer::Answer::ok(changed)
                })
            },
            $doc,
        )
        .json()
    };
}

/// Deletes one.
macro_rules! delete {
    ($action:ident, $path:expr, $cases:ident.$method:ident($id:ident), $doc:expr $(,)?) => {
        crate::route::Route::company(
            crate::route::verb::DELETE,
            $path,
            recado_core::access::OperatorAction::$action,
            |c| {
                Box::pin(async move {
                    let id = c.path.id("id", $id::parse);
                    c.recado.$cases().$method(c.who.id, id).await?;
                    crate::answer::Answer::done()
                })
            },
            $doc,
        )
    };
}

pub(super) use {change, create, delete, get, list};
