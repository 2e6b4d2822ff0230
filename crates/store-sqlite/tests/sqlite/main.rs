//! Tests of what the store contract does not cover: the file, its migrations, group commit, the
//! indexes.

mod campaigns;
mod deliveries;
mod erasure;
mod group_commit;
mod listing;
mod messages;
mod messages_search;
mod migrations;
mod sealing;
mod search;
mod support;
