//! Pages of listings (4.11, D7).

use serde::Serialize;

use crate::query::{InvalidParameter, Params};

/// The page size when none is asked for (8).
pub const DEFAULT_LIMIT: u32 = 50;
/// The largest page (D7).
pub const MAX_LIMIT: u32 = 100;
/// The largest page number that can be written; long before it every listing is empty.
const MAX_PAGE: u32 = u32::MAX;

/// Reads `limit`: 1 to 100, 50 by default.
pub fn limit(params: &Params) -> Result<u32, InvalidParameter> {
    Ok(params.number("limit", 1, MAX_LIMIT)?.unwrap_or(DEFAULT_LIMIT))
}

/// Which page of a listing, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// The page, from 1.
    pub page: u32,
    /// How many records a page holds, 1 to 100.
    pub limit: u32,
}

impl PageRequest {
    /// The first page of the default size.
    pub const FIRST: Self = Self { page: 1, limit: DEFAULT_LIMIT };

    /// The first page of this size.
    pub const fn first(limit: u32) -> Self {
        Self { page: 1, limit }
    }

    /// Reads `page` and `limit`.
    pub fn parse(params: &Params) -> Result<Self, InvalidParameter> {
        let page = params.number("page", 1, MAX_PAGE)?.unwrap_or(1);
        Ok(Self { page, limit: limit(params)? })
    }

    /// How many records come before this page.
    pub fn offset(self) -> u64 {
        u64::from(self.page - 1) * u64::from(self.limit)
    }
}

/// Records of one page, and how many there are on all pages together.
#[derive(Clone, Debug, PartialEq)]
pub struct Page<T> {
    /// The records of this page, in the listing's order.
    pub items: Vec<T>,
    /// How many records match on all pages.
    pub total: u64,
}

impl<T> Page<T> {
    /// No record at all.
    pub const fn empty() -> Self {
        Self { items: Vec::new(), total: 0 }
    }
}

/// The `pagination` object of a listing by page (4.11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Pagination {
    /// The page, from 1.
    pub page: u32,
    /// Records per page.
    pub limit: u32,
    /// Records on all pages.
    pub total: u64,
    /// Pages; 0 when there is nothing.
    pub total_pages: u64,
}

impl Pagination {
    /// The object for a page of a listing that has `total` records.
    pub fn new(request: PageRequest, total: u64) -> Self {
        Self {
            page: request.page,
            limit: request.limit,
            total,
            total_pages: total.div_ceil(u64::from(request.limit)),
        }
    }
}
