//! The database of a command.

use recado_core::Recado;

use super::CommandError;
use crate::options::Options;
use crate::start::public_url;
use crate::wiring::{self, Core};

/// The core on a database that is there, without a server. Neither makes nor migrates one.
///
/// R264.
pub(super) async fn core(options: &Options) -> Result<Core, CommandError> {
    is_there(options).await?;
    let public_url = public_url(options, options.listen);
    Ok(wiring::core_of_command(options, public_url).await?)
}

/// Runs a command with such a core, and closes the database.
pub(super) async fn with(
    options: &Options,
    command: impl AsyncFnOnce(&Recado) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let core = core(options).await?;
    let done = command(&core.recado).await;
    core.closer.close().await;
    done
}

/// Fails unless there is a database.
///
/// R264.
pub(super) async fn is_there(options: &Options) -> Result<(), CommandError> {
    match wiring::exists(options).await? {
        true => Ok(()),
        false => Err(CommandError::NoDatabase(format!("{:?}", options.database))),
    }
}
