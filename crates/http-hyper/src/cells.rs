//! Where the cells of an installation answer (R460).

use std::collections::BTreeMap;

use http::Uri;
use http::uri::{Authority, PathAndQuery, Scheme};
use recado_core::Cell;

use crate::target::OutboundTarget;

/// Where a cell answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellAddress {
    pub(crate) public: CellUrl,
    pub(crate) operator: CellUrl,
}

/// The scheme, host and port of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CellUrl {
    scheme: Scheme,
    authority: Authority,
}

impl CellUrl {
    fn parse(url: &str) -> Option<Self> {
        OutboundTarget::parse(url).ok()?;
        let parts = url.parse::<Uri>().ok()?.into_parts();
        let has_path = parts.path_and_query.is_some_and(|path| path.as_str() != "/");
        match (parts.scheme, parts.authority) {
            (Some(scheme), Some(authority)) if !has_path && !authority.as_str().contains('@') => {
                Some(Self { scheme, authority })
            }
            _ => None,
        }
    }

    /// The same path there.
    pub(crate) fn with(&self, path: Option<PathAndQuery>) -> Option<Uri> {
        let path = path.unwrap_or_else(|| PathAndQuery::from_static("/"));
        let (scheme, authority) = (self.scheme.clone(), self.authority.clone());
        Uri::builder().scheme(scheme).authority(authority).path_and_query(path).build().ok()
    }
}

impl CellAddress {
    /// A cell whose public paths are at the URL `public`, and the operator API at `operator`, or at
    /// the same. Each is `http://` or `https://` with a host, perhaps a port, and no path. `None`
    /// for another text.
    pub fn parse(public: &str, operator: Option<&str>) -> Option<Self> {
        let public = CellUrl::parse(public)?;
        let operator = operator.map_or(Some(public.clone()), CellUrl::parse)?;
        Some(Self { public, operator })
    }
}

/// The cells of an installation: its own, and where the others answer. Calls to a company that
/// moved to one of them are handed on to it (R460).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cells {
    /// The cell of the installation itself.
    pub own: Cell,
    /// Where others answer.
    pub others: BTreeMap<Cell, CellAddress>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R460.
    #[test]
    fn an_address_of_a_cell_is_a_host_and_no_path() {
        for good in ["http://10.0.0.2:8080", "https://c1.example.org", "https://c1.example.org/"] {
            assert!(CellAddress::parse(good, None).is_some(), "{good}");
        }
        for bad in ["", "c1.example.org", "ftp://c1", "http://c1/recado", "http://a@c1", "http://"]
        {
            assert!(CellAddress::parse(bad, None).is_none(), "{bad}");
            assert!(CellAddress::parse("http://c1", Some(bad)).is_none(), "{bad}");
        }
        let address = CellAddress::parse("https://c1.example.org/", None).expect("an address");
        let path = PathAndQuery::from_static("/l/x?y=1");
        let url = address.public.with(Some(path)).expect("a URL");
        assert_eq!(url, "https://c1.example.org/l/x?y=1");
    }
}
