//! The country whose numbering plan a phone without `+` follows.

use std::fmt;

use rlibphonenumber::Region as LibRegion;
use rlibphonenumber::{PHONE_NUMBER_UTIL, RegionStr};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::form::{Form, to_json};

/// A country whose numbering plan is known, by its ISO 3166-1 alpha-2 code. Brazil by default.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Region {
    pub(super) plan: LibRegion,
    code: RegionStr,
}

impl Region {
    /// The region of a two-letter code in either case, if its numbering plan is known.
    pub fn parse(code: &str) -> Option<Self> {
        // The library also answers "001" (no country at all).
        if code.len() != 2 {
            return None;
        }
        let plan = LibRegion::from_code(code).ok()?;
        PHONE_NUMBER_UTIL.get_country_code_for_region(plan)?;
        Some(Self::of(plan))
    }

    /// Brazil.
    pub const fn br() -> Self {
        Self::of(LibRegion::BR)
    }

    /// The code, in capitals.
    pub fn as_str(&self) -> &str {
        self.code.as_str()
    }

    const fn of(plan: LibRegion) -> Self {
        Self { plan, code: plan.as_region_str() }
    }
}

to_json!(Region, |region| region.as_str());

impl Form for Region {
    type Value = Self;

    fn read(value: &Value) -> Result<Self, String> {
        let region = value.as_str().and_then(Self::parse);
        region.ok_or_else(|| "must be a region such as BR".to_owned())
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::openapi::text(|text| text)
    }
}

impl Default for Region {
    fn default() -> Self {
        Self::br()
    }
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Region({})", self.as_str())
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Region {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
