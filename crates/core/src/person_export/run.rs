//! Writing the export of a contact, a page of rows or a frame of a file at a time.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::task::Poll;

use futures_channel::mpsc;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt, StreamExt};
use serde_json::{Value, json};
use uuid::Uuid;

use super::archive::{File, Out, safe_name};
use super::{kept, shown};
use crate::audit::RecordRef;
use crate::contacts::{Contact, Contacts, KeptOfPerson};
use crate::documents::{Document, DocumentState, FileReader};
use crate::error::{Error, NotFound};
use crate::ids::{CompanyId, ContactId, MessageId, UploadId};
use crate::messages::Direction;
use crate::store::{Listing, RecordsExt, Row, RowKind, StoreError, Stored};
use crate::uploads::Upload;
use crate::{Recado, Timestamp};

/// How many rows are read at a time.
const PAGE: u32 = 200;

/// Why an export broke off. What was written of it is no whole ZIP.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The contact was deleted, or merged into another, before the export had ended.
    #[error("the contact was deleted meanwhile")]
    Gone,
    /// The ZIP could not be written.
    #[error("the ZIP could not be written: {0}")]
    Zip(#[from] io::Error),
}

/// The export of a contact, which exists; nothing more was read yet.
pub struct PersonExport {
    app: Recado,
    company: CompanyId,
    contact: ContactId,
}

impl fmt::Debug for PersonExport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (company, contact) = (self.company, self.contact);
        f.debug_struct("PersonExport")
            .field("company", &company)
            .field("contact", &contact)
            .finish()
    }
}

impl Contacts<'_> {
    /// The export of everything that is kept about a contact (R410).
    ///
    /// # Errors
    ///
    /// [`NotFound`], of another company too.
    pub async fn export_person(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<PersonExport, Error<NotFound>> {
        match self.app.store().get::<Contact>((company, contact)).await? {
            Some(_) => {
                // R386.
                let record = RecordRef::new("contact", contact);
                self.app.audit().note_read(company, [record]).await?;
                Ok(PersonExport { app: self.app.clone(), company, contact })
            }
            None => Err(Error::Rejected(NotFound)),
        }
    }
}

impl PersonExport {
    /// The bytes of the ZIP, made as they are asked for: a page of rows or a frame of a file at a
    /// time is in memory. After an error nothing follows.
    ///
    /// R410.
    pub fn frames(self) -> BoxStream<'static, Result<Vec<u8>, ExportError>> {
        let (sender, made) = mpsc::channel(1);
        let mut made = made.fuse();
        let mut writing = Some(self.write(sender).boxed());
        let mut failed = None;
        stream::poll_fn(move |cx| {
            if let Some(Poll::Ready(written)) =
                writing.as_mut().map(|writing| writing.poll_unpin(cx))
            {
                writing = None;
                failed = written.err();
            }
            // What was written before comes first.
            let next = made.poll_next_unpin(cx);
            next.map(|frame| frame.map(Ok).or_else(|| failed.take().map(Err)))
        })
        .boxed()
    }

    async fn write(self, sender: mpsc::Sender<Vec<u8>>) -> Result<(), ExportError> {
        let mut out = Out::new(sender);
        let mut readme = out.begin("README.txt", "What this ZIP is.")?;
        readme.write(README.as_bytes())?;
        readme.end(None).await?;
        self.write_contact(&mut out).await?;
        for kind in RowKind::ALL.iter().copied() {
            if kind == RowKind::UnknownEvent {
                self.write_kept_events(&mut out).await?;
            } else if let Some((path, what)) = shown::file_of(kind) {
                self.write_rows(&mut out, kind, path, what).await?;
            }
        }
        let uploads = self.write_messages(&mut out).await?;
        self.write_documents(&mut out).await?;
        for upload in uploads {
            self.write_upload(&mut out, upload).await?;
        }
        // What was deleted meanwhile is missing above, so the export must not seem complete.
        self.contact().await?;
        let (files, missing) = out.manifest();
        let manifest = json!({
            "company_id": self.company,
            "contact_id": self.contact,
            "made_at": self.app.now(),
            "files": files,
            "missing": missing,
        });
        let mut file = out.begin("manifest.json", "What each file is.")?;
        file.write(format!("{manifest:#}").as_bytes())?;
        file.end(None).await?;
        Ok(out.finish().await?)
    }

    async fn contact(&self) -> Result<Contact, ExportError> {
        let found = self.app.store().get::<Contact>((self.company, self.contact)).await?;
        found.map(Stored::into_value).ok_or(ExportError::Gone)
    }

    /// The contact itself, with its custom fields, also those that are not shown elsewhere.
    async fn write_contact(&self, out: &mut Out) -> Result<(), ExportError> {
        let found = self.app.store().contact_record(self.company, self.contact).await?;
        let (record, fields) = found.ok_or(ExportError::Gone)?;
        let contact = record.contact.value();
        let form = self.app.contacts().operator_form(&record, &fields).await?;
        let mut shown = serde_json::to_value(form).map_err(io::Error::other)?;
        let custom: serde_json::Map<String, Value> = fields
            .iter()
            .filter_map(|field| {
                let value = contact.custom_fields.get(&field.id)?;
                Some((field.slug.clone(), json!(value)))
            })
            .collect();
        if let Some(shown) = shown.as_object_mut() {
            // A member of the company is another person: its id stands in the contact.
            shown.remove("assigned_to");
            shown.insert("custom_fields_by_slug".to_owned(), Value::Object(custom));
            shown.insert("opted_in_at".to_owned(), json!(contact.opted_in_at));
            let is_backfilled = json!(contact.opt_out_backfilled);
            shown.insert("opt_out_backfilled".to_owned(), is_backfilled);
        }
        let what = "The contact: its fields, organization, tags, lists, connections and opt-out.";
        let mut file = out.begin("contact.json", what)?;
        file.write(format!("{shown:#}").as_bytes())?;
        Ok(file.end(None).await?)
    }

    /// The kept events that are deleted with the contact: those about it, and those that name it.
    async fn write_kept_events(&self, out: &mut Out) -> Result<(), ExportError> {
        let (contact, store) = (self.contact().await?, self.app.store());
        let mut kept = KeptOfPerson::new(&contact);
        let (path, what) = shown::KEPT_EVENTS;
        let mut rows = Rows::begin(out, path, what)?;
        while let Some(page) = kept.next(store).await? {
            for event in &page {
                let body = kept::body_for(store, &contact, &kept, event).await?;
                rows.add(&shown::kept_event(event, body))?;
            }
            rows.file.flush().await;
        }
        rows.end().await
    }

    /// The rows of a kind: a page of those with an id, all of the others, of which R410 says how
    /// many there can be.
    async fn rows_after(&self, kind: RowKind, after: Uuid) -> Result<Vec<Stored<Row>>, StoreError> {
        let (company, contact) = (self.company, self.contact);
        let limit = if kind.key_parts().contains(&"id") { PAGE } else { u32::MAX };
        self.app.store().rows(Listing::About { company, kind, contact, after, limit }).await
    }

    async fn write_rows(
        &self,
        out: &mut Out,
        kind: RowKind,
        path: &str,
        what: &str,
    ) -> Result<(), ExportError> {
        let mut rows = Rows::begin(out, path, what)?;
        let mut after = Uuid::nil();
        loop {
            let page = self.rows_after(kind, after).await?;
            for row in &page {
                rows.add(&shown::row(row.value()))?;
            }
            rows.file.flush().await;
            match page.last().and_then(|row| row.value().key().id()) {
                Some(last) if page.len() >= PAGE as usize => after = last,
                _ => return rows.end().await,
            }
        }
    }

    /// The messages, and which uploads they carry.
    async fn write_messages(&self, out: &mut Out) -> Result<BTreeSet<UploadId>, ExportError> {
        let mut uploads = BTreeSet::new();
        let links = self.app.media_links().await?;
        let what = "All messages; their files are in files/.";
        let mut rows = Rows::begin(out, "messages.json", what)?;
        let (company, contact, limit) = (self.company, self.contact, PAGE);
        for (direction, is_history) in
            Direction::ALL.iter().flat_map(|of| [(*of, true), (*of, false)])
        {
            let mut after = (Timestamp::MIN, MessageId::new(Uuid::nil()));
            loop {
                let listing =
                    Listing::MessagesOf { company, contact, direction, is_history, after, limit };
                let page = self.app.store().rows(listing).await?;
                for row in &page {
                    let Row::Message(message) = row.value() else { continue };
                    after = (message.created_at, message.id);
                    uploads.extend(message.media.upload);
                    rows.add(&shown::message(message, &links))?;
                }
                rows.file.flush().await;
                if page.len() < PAGE as usize {
                    break;
                }
            }
        }
        rows.end().await?;
        Ok(uploads)
    }

    async fn write_documents(&self, out: &mut Out) -> Result<(), ExportError> {
        let mut after = Uuid::nil();
        loop {
            let page = self.rows_after(RowKind::Document, after).await?;
            for row in &page {
                let Row::Document(document) = row.value() else { continue };
                after = document.id.uuid();
                self.write_document(out, document).await?;
            }
            if page.len() < PAGE as usize {
                return Ok(());
            }
        }
    }

    async fn write_document(&self, out: &mut Out, document: &Document) -> Result<(), ExportError> {
        if document.state != DocumentState::Stored {
            return Ok(());
        }
        let path = format!("documents/{}/{}", document.id, safe_name(&document.filename));
        match self.app.documents().open(document, 0).await {
            Ok(reader) => copy(out, &path, "A document.", reader).await,
            Err(Error::Store(error)) => Err(error.into()),
            Err(_) => {
                out.misses(&path);
                Ok(())
            }
        }
    }

    async fn write_upload(&self, out: &mut Out, id: UploadId) -> Result<(), ExportError> {
        let found = self.app.store().get::<Upload>((self.company, id)).await?;
        let name = found.as_ref().and_then(|upload| upload.filename.as_deref());
        let path = format!("files/{id}/{}", safe_name(name.unwrap_or("file")));
        let opened = match &found {
            Some(upload) => self.app.uploads().open(upload, 0).await.ok().flatten(),
            None => None,
        };
        match opened {
            Some(reader) => copy(out, &path, "The file of a message.", reader).await,
            None => {
                out.misses(&path);
                Ok(())
            }
        }
    }
}

/// A file with an array of JSON.
struct Rows<'a> {
    file: File<'a>,
    records: u64,
}

impl<'a> Rows<'a> {
    fn begin(out: &'a mut Out, path: &'a str, what: &'a str) -> io::Result<Self> {
        Ok(Self { file: out.begin(path, what)?, records: 0 })
    }

    fn add(&mut self, row: &Value) -> io::Result<()> {
        let before = if self.records == 0 { "[\n" } else { ",\n" };
        self.records += 1;
        self.file.write(format!("{before}{row}").as_bytes())
    }

    async fn end(mut self) -> Result<(), ExportError> {
        self.file.write(if self.records == 0 { b"[]\n" } else { b"\n]\n" })?;
        Ok(self.file.end(Some(self.records)).await?)
    }
}

/// A file, frame by frame. One that ends too soon is named as missing.
async fn copy(
    out: &mut Out,
    path: &str,
    what: &str,
    mut reader: FileReader,
) -> Result<(), ExportError> {
    let mut file = out.begin(path, what)?;
    let mut is_whole = true;
    while let Some(frame) = reader.next().await {
        let Ok(frame) = frame else {
            is_whole = false;
            break;
        };
        file.write(&frame)?;
        file.flush().await;
    }
    file.end(None).await?;
    if !is_whole {
        out.misses(path);
    }
    Ok(())
}

const README: &str = "\
Everything that is kept about one contact.

contact.json    the contact itself
messages.json   all messages
documents/      the documents of the contact
files/          the files of its messages
*.json          other records; manifest.json says of each file what it is
manifest.json   the last file: without it, the export is not complete. It names files that could
                not be read under \"missing\".

Tudo o que é mantido sobre um contato.

contact.json    o contato
messages.json   todas as mensagens
documents/      os documentos do contato
files/          os arquivos das mensagens
*.json          outros registros; manifest.json diz o que é cada arquivo
manifest.json   o último arquivo: sem ele, a exportação não está completa. Em \"missing\" estão os
                arquivos que não puderam ser lidos.
";
