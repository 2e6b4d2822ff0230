//! Writing rows as they are.

use async_trait::async_trait;
use recado_core::match_row;
use recado_core::store::{Row, RowKind, StoreError};
use recado_store_sql::transfer::{
    Fill, Moved, Part, Places, RowChange, TransferReader, TransferWriter,
};
use recado_store_sql::{Layout, Sealer, signed};
use uuid::Uuid;

use super::copy::{Copying, columns};
use super::repeat::repeat;
use super::schema::{self, Dropped};
use super::session::Session;
use crate::error::failed;
use crate::messages_write;
use crate::param::{Param, bind_sealed, params};

/// A database that is being filled.
pub(super) struct Filling {
    session: Session,
    fill: Fill,
    dropped: Option<Dropped>,
    copying: Option<(Part, Copying)>,
}

impl Filling {
    /// Begins the transaction.
    pub(super) async fn begin(session: Session, fill: Fill) -> Result<Self, StoreError> {
        session.run("BEGIN").await?;
        let dropped = match fill {
            Fill::Anew => Some(schema::drop_all(&session).await?),
            Fill::Beside => None,
        };
        Ok(Self { session, fill, dropped, copying: None })
    }

    /// Ends the `COPY` under way.
    async fn end_copy(&mut self) -> Result<(), StoreError> {
        match self.copying.take() {
            Some((_, copying)) => copying.end().await,
            None => Ok(()),
        }
    }

    /// Search texts have tables of their own. Only one `COPY` can be under way, so rows and their
    /// texts are written by turns.
    async fn write_searched(&mut self, part: Part, rows: &[Moved]) -> Result<(), StoreError> {
        let session = &self.session;
        let mut copying = Copying::begin(session, part.table(), &columns(part), self.fill).await?;
        for moved in rows {
            copying.row(&values(moved, &session.sealer)).await?;
        }
        copying.end().await?;
        let (table, columns) = match part {
            Part::Rows(RowKind::Contact) => {
                ("contact_search", "company_id, contact_id, facet, search_text")
            }
            _ => ("message_texts", "company_id, created_at, message_id, search_text"),
        };
        let mut copying = Copying::begin(session, table, columns, self.fill).await?;
        for moved in rows {
            match moved {
                Moved::Row { row: Row::Contact(contact), .. } => {
                    let text = contact.search_text().as_str().to_owned();
                    let facet = Uuid::from_bytes(*contact.facet_key().as_bytes());
                    let values = [
                        Param::Id(contact.company.uuid()),
                        Param::Id(contact.id.uuid()),
                        Param::Id(facet),
                        Param::Text(text.into()),
                    ];
                    copying.row(&values).await?;
                }
                Moved::Row { row: Row::Message(message), .. } => {
                    let values = [
                        Param::Id(message.company.uuid()),
                        Param::Int(message.created_at.millis()),
                        Param::Id(message.id.uuid()),
                        messages_write::text(message),
                    ];
                    copying.row(&values).await?;
                }
                _ => {}
            }
        }
        copying.end().await
    }
}

/// The values of [`columns`].
fn values(moved: &Moved, sealer: &Sealer) -> Vec<Param> {
    match moved {
        Moved::Row { row, version, place } => {
            let (mut values, versioned) =
                match_row!(row, record => (bind_sealed(record, sealer), versioned(record)));
            if let Row::Contact(contact) = row {
                values.push(Param::Id(Uuid::from_bytes(*contact.facet_key().as_bytes())));
            }
            if versioned {
                values.push(Param::Int(signed(version.number())));
            }
            values.extend(place.map(|place| Param::Int(signed(place))));
            values
        }
        Moved::Frontier(frontier) => {
            params![frontier.company.uuid(), frontier.created_at.millis()]
        }
        Moved::Event(event) => params![
            signed(event.place),
            event.company.uuid(),
            event.id.uuid(),
            event.event_type.as_str(),
            event.contact.map(|contact| contact.uuid()),
            event.at.millis(),
            event.data.clone()
        ],
    }
}

const fn versioned<T: Layout>(_: &T) -> bool {
    T::TABLE.versioned
}

/// Makes later places of a column higher than `$3`. Nobody else takes places of a database that is
/// filled anew. Beside other companies places are taken one by one, because others take them, too.
fn raise(fill: Fill) -> &'static str {
    match fill {
        Fill::Anew => {
            "SELECT setval(pg_get_serial_sequence($1, $2), greatest($3::bigint, 1), $3 > 0)"
        }
        Fill::Beside => {
            "WITH RECURSIVE taken (place) AS ( \
             SELECT nextval(pg_get_serial_sequence($1, $2)) UNION ALL \
             SELECT nextval(pg_get_serial_sequence($1, $2)) FROM taken WHERE place < $3::bigint) \
             SELECT max(place) FROM taken"
        }
    }
}

#[async_trait]
impl TransferWriter for Filling {
    async fn written(&mut self) -> Result<&mut dyn TransferReader, StoreError> {
        self.end_copy().await?;
        Ok(&mut self.session)
    }

    async fn write(&mut self, part: Part, rows: Vec<Moved>) -> Result<(), StoreError> {
        if self.copying.as_ref().is_some_and(|(of, _)| *of != part) {
            self.end_copy().await?;
        }
        if matches!(part, Part::Rows(RowKind::Contact | RowKind::Message)) {
            return self.write_searched(part, &rows).await;
        }
        let (_, copying) = match &mut self.copying {
            Some(copying) => copying,
            none => {
                let copying =
                    Copying::begin(&self.session, part.table(), &columns(part), self.fill).await?;
                none.insert((part, copying))
            }
        };
        for moved in &rows {
            copying.row(&values(moved, &self.session.sealer)).await?;
        }
        Ok(())
    }

    async fn repeat(&mut self, changes: &[RowChange]) -> Result<(), StoreError> {
        self.end_copy().await?;
        repeat(&mut self.session, changes).await
    }

    async fn clear(&mut self, part: Part) -> Result<(), StoreError> {
        self.end_copy().await?;
        let Some((column, company)) = part.company_column().zip(self.session.scope.company())
        else {
            return Ok(());
        };
        let clear = format!("DELETE FROM {} WHERE {column} = $1", part.table());
        self.session.client.execute(&clear, &[&company.uuid()]).await.map_err(failed)?;
        Ok(())
    }

    async fn finish(&mut self, places: Places) -> Result<(), StoreError> {
        self.end_copy().await?;
        let raised = [("events", "place", places.events), ("deliveries", "seq", places.deliveries)];
        for (table, column, place) in raised {
            let values: [&(dyn tokio_postgres::types::ToSql + Sync); 3] =
                [&table, &column, &signed(place)];
            self.session.client.query_one(raise(self.fill), &values).await.map_err(failed)?;
        }
        match self.dropped.take() {
            Some(dropped) => dropped.make_again(&self.session).await,
            None => Ok(()),
        }
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        self.session.client.batch_execute("COMMIT").await.map_err(StoreError::outcome_unknown)
    }
}
