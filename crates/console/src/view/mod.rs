//! The parts that pages are made of.

pub(crate) mod confirm;
pub(crate) mod date;
pub(crate) mod empty;
pub(crate) mod field;
pub(crate) mod keys;
pub(crate) mod layout;
pub(crate) mod pager;
pub(crate) mod plot;
pub(crate) mod qr;
pub(crate) mod secret;
pub(crate) mod table;
pub(crate) mod tabs;
pub(crate) mod toast;
pub(crate) mod when;
