//! Connections to channels.

use recado_core::connections::{
    Connection, ConnectionKind, ConnectionSettings, ConnectionStatus, GatewayName, StatusHistory,
    StatusSince,
};

use crate::cell::{CellReader, CellWriter};
use crate::field::{Column, json, json_of, texts, words};
use crate::record::record;

record! {
    Connection in "connections" key(company_id, id) {
        company("company_id"),
        id,
        kind,
        platform,
        name,
        identifier,
        gateway,
        settings,
        is_active,
        status,
        created_at,
        updated_at,
        last_heard_at,
    }
    sealed Text { "settings" }
}

record! {
    StatusHistory in "connection_statuses" key(company_id, connection_id) {
        company("company_id"),
        connection("connection_id"),
        changes,
    }
}

json! { Vec<StatusSince> }

words! { ConnectionKind, ConnectionStatus }

texts! {
    GatewayName: GatewayName::as_str, GatewayName::parse;
}

impl Column for ConnectionSettings {
    fn write<'a, W: CellWriter<'a>>(&'a self, writer: &mut W) {
        writer.json(json_of(self.expose()).into());
    }

    fn read_or_null<R: CellReader>(reader: &mut R) -> Result<Option<Self>, R::Error> {
        Ok(reader.json()?.map(Self::from_stored))
    }
}
