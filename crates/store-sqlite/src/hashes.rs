//! The functions by which a migration replaces secrets by their keyed hashes (R224).

use recado_core::inbound::EndpointSecretHash;
use recado_core::keyed_hash::HashKey;
use recado_core::links::LinkCodeHash;
use recado_core::secret::SecretBytes;
use recado_core::templates::TemplateTokenHash;
use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};

/// The key and the secret of a call.
fn given(call: &Context<'_>) -> rusqlite::Result<(HashKey, Vec<u8>)> {
    let bytes = |at| Ok::<_, rusqlite::Error>(call.get_raw(at).as_bytes()?.to_vec());
    Ok((HashKey::new(SecretBytes::new(bytes(0)?)), bytes(1)?))
}

/// Gives the connection that migrates the functions (R224).
pub(crate) fn define(conn: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    conn.create_scalar_function("endpoint_secret_hash", 2, flags, |call| {
        let (key, secret) = given(call)?;
        Ok(EndpointSecretHash::of(&key, &secret).to_text())
    })?;
    conn.create_scalar_function("link_code_hash", 2, flags, |call| {
        let (key, code) = given(call)?;
        Ok(LinkCodeHash::of(&key, &code).to_text())
    })?;
    conn.create_scalar_function("template_token_hash", 2, flags, |call| {
        let (key, token) = given(call)?;
        Ok(TemplateTokenHash::of(&key, &token).as_bytes().to_vec())
    })
}
