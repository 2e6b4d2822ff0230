//! The conversation without a browser.
