//! A real Chromium, and what is asked of every page.

mod axe;
mod browser;
mod chromium;
mod keyboard;
mod look;
mod pictures;
mod session;
mod site;

pub(crate) use browser::Browser;
pub(crate) use keyboard::{CONTROL, ENTER, SHIFT, TAB};
pub(crate) use look::{Language, Theme};
pub(crate) use site::Site;
