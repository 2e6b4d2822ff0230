//! Calls of template dispatches: the first line is the template, the second one the query, the rest
//! the body.

use recado_core::dispatches::DispatchDraft;
use recado_core::query::Params;

/// Takes one input.
pub(crate) fn take(input: &str) {
    let mut parts = input.splitn(3, '\n');
    let mut part = || parts.next().unwrap_or_default();
    let (template, query, body) = (part(), part(), part());
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let params = Params::new(pairs.map(|(name, value)| (name.into(), value.into())).collect());
    let _ = DispatchDraft::read(template, body.as_bytes(), &params);
}
