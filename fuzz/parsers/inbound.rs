//! Calls to inbound endpoints: the first line is the mapping, the rest the body.

use recado_core::contacts::{Phone, Region};
use recado_core::inbound::{Mapped, Payload, VariableMapping};

/// Takes one input.
pub(crate) fn take(input: &str) {
    let (mapping, body) = input.split_once('\n').unwrap_or((input, "{}"));
    let Ok(mapping) = serde_json::from_str(mapping) else { return };
    let Ok(mapping) = VariableMapping::read(&mapping) else { return };
    let Ok(payload) = Payload::read(body.as_bytes()) else { return };
    let region = Region::br();
    if let Ok(mapped) = Mapped::new(&mapping, &payload, &region) {
        assert_eq!(Phone::parse(mapped.phone.as_str(), &region), Ok(mapped.phone));
    }
}
