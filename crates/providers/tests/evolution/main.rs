//! The adapter of Evolution API, with the shapes that its versions send.
#![cfg(feature = "evolution")]

mod answers;
mod changes;
mod context;
mod errors;
mod events;
mod flows;
mod futures;
mod fuzz;
mod groups;
mod history;
mod identity;
mod kept;
mod kinds;
mod media;
mod messages;
mod notices;
mod offers;
mod pairing;
mod scene;
mod tokens;
mod unknown;
