//! Uploads: messages carry them, and a sweep removes those that nobody has (X11, R348).

use recado_core::Timestamp;
use recado_core::ids::{ContactId, UploadId};
use recado_core::store::{Listing, RecordsExt, Removable, Row, RowKind, Stored};
use recado_core::uploads::{FileHash, Upload, UploadState};
use serde_json::{Value, json};
use uuid::Uuid;

use super::super::world::World;
use super::find::any;
use super::make::Maker;
use super::{CompanyRows, shown};

/// A limit that no run reaches.
const ALL: u32 = 100_000;
/// Longer ago than an upload is kept.
const LONG_AGO: i64 = 40 * 86_400_000;

impl Maker<'_> {
    pub(super) fn upload_id(&self, n: usize) -> UploadId {
        UploadId::new(self.known(n, "row upload"))
    }

    pub(super) fn upload(&self) -> Upload {
        let back = if self.once_in(1, 3) { LONG_AGO } else { 0 };
        Upload {
            company: self.company,
            id: UploadId::new(self.fresh),
            mimetype: self.one(2, &["image/png", "application/pdf", "text/plain"]).to_owned(),
            size: self.command.number(3) as u64 * 100_000,
            sha256: FileHash::from_bytes([self.command.number(4) as u8; 32]),
            filename: self.maybe(5, || self.text(6)),
            state: self.one(7, UploadState::ALL),
            is_listed: self.once_in(8, 2),
            created_at: Timestamp::from_millis(self.time(9).millis() - back),
            expires_at: self.maybe(10, || match self.once_in(11, 2) {
                true => self.time(12),
                false => self.soon(12),
            }),
        }
    }
}

/// All that is stored of an upload.
pub(super) fn shown_upload(upload: &Upload) -> Value {
    let Upload { company, id, mimetype, size, sha256, filename, state, .. } = upload;
    json!([
        format!("{company:?} {id:?} {state:?} {sha256}"),
        [json!(mimetype), json!(size), json!(filename), json!(upload.is_listed)],
        [json!(upload.created_at), json!(upload.expires_at)],
    ])
}

impl CompanyRows {
    async fn upload(&self, id: UploadId) -> Option<Stored<Upload>> {
        self.store.get::<Upload>((self.company, id)).await.expect("works")
    }

    pub(super) async fn find_upload(&self, id: UploadId) -> Option<Stored<Row>> {
        self.upload(id).await.as_ref().map(any)
    }

    async fn listed(&self, listing: Listing) -> Vec<Value> {
        let rows = self.store.rows(listing).await.expect("works");
        rows.iter().map(shown::stored).collect()
    }

    /// The answers of reads about uploads: one, those whose time has come, those that nobody has,
    /// and those of a contact.
    pub(super) async fn uploads(&self, maker: &Maker<'_>) -> Value {
        let (company, kind, id) = (self.company, RowKind::Upload, maker.upload_id(10));
        let limit = 1 + maker.command.number(11) as u32 % 5;
        let oldest = Listing::Oldest { company, kind, until: maker.soon(12), limit };
        let used = self.store.is_in_use(company, Removable::Upload(id)).await.expect("works");
        let unused = Listing::Unused { company, kind, limit };
        json!([
            self.upload(id).await.as_ref().map(shown::stored),
            used,
            self.listed(oldest).await,
            self.listed(unused).await.len(),
            self.carried(maker.contact_id(13), ALL).await,
            self.carried(maker.contact_id(13), limit).await.len(),
        ])
    }

    async fn carried(&self, contact: ContactId, limit: u32) -> Vec<Value> {
        let company = self.company;
        shown::unordered(self.listed(Listing::Carried { company, contact, limit }).await)
    }

    /// The answers of all reads about uploads.
    pub(super) async fn all_uploads(&self, world: &World) -> Vec<Value> {
        let (company, kind) = (self.company, RowKind::Upload);
        let unused = Listing::Unused { company, kind, limit: ALL };
        let oldest = Listing::Oldest { company, kind, until: Timestamp::MAX, limit: ALL };
        let mut everything = vec![
            json!(shown::unordered(self.listed(unused).await)),
            json!(self.listed(oldest).await),
        ];
        for id in world.ids.get("row upload").into_iter().flatten() {
            let id = UploadId::new(Uuid::parse_str(id).unwrap_or(Uuid::nil()));
            let used = self.store.is_in_use(company, Removable::Upload(id)).await.expect("works");
            everything.push(json!([self.upload(id).await.as_ref().map(shown::stored), used]));
        }
        for id in world.ids.get("row contact").into_iter().flatten() {
            let id = ContactId::new(Uuid::parse_str(id).unwrap_or(Uuid::nil()));
            everything.push(json!(self.carried(id, ALL).await));
        }
        everything
    }
}
