//! From options to the core: the store, the files, the transport.

use std::sync::Arc;

use recado_core::access::Limiter;
use recado_core::store::{Store, StoreError};
use recado_core::{Parts, Recado, Settings};

use crate::clock::SystemClock;
use crate::files;
use crate::options::{Database, Options};
use crate::random_ids::RandomIds;
use crate::start::{Overrides, StartError};

/// A database that was opened, and the limiter that its processes share.
pub(crate) struct Opened {
    store: Arc<dyn Store>,
    limiter: Option<Arc<dyn Limiter>>,
}

/// Opens the database, and brings its schema up to date where `migrate` says so.
pub(crate) async fn open(database: &Database, migrate: bool) -> Result<Opened, StoreError> {
    let _ = migrate;
    match database {
        Database::Sqlite(_) => Err(StoreError::corrupt("not built yet")),
        Database::Postgres(_) => Err(StoreError::corrupt("not built yet")),
    }
}

/// The core on everything that the options name. Links begin with `public_url`.
pub(crate) async fn core(
    options: &Options,
    public_url: String,
    overrides: Overrides,
) -> Result<Recado, StartError> {
    let files = match overrides.files {
        Some(files) => files,
        None => files::open(&options.documents)?,
    };
    let opened = open(&options.database, !options.no_migrate).await?;
    let store = match overrides.wrap_store {
        Some(wrap) => wrap(opened.store),
        None => opened.store,
    };
    let parts = Parts {
        store,
        clock: overrides.clock.unwrap_or_else(|| Arc::new(SystemClock)),
        ids: overrides.ids.unwrap_or_else(|| Arc::new(RandomIds::new())),
        files,
        transport: overrides.transport.expect("to come"),
        limiter: opened.limiter,
        settings: Settings {
            public_url,
            registry_url: options.cnpj_registry.clone(),
            group_suffix: options.group_suffix.clone(),
        },
    };
    if options.no_migrate {
        // The schema may come later; until then /readyz answers 503.
        return Ok(Recado::new(parts));
    }
    Ok(Recado::start(parts).await?)
}
