//! The connection that a message goes through, and what it carries (D33, D35; X10, X12).

use super::intent::{Intent, IntentFacts};
use super::{NoConnection, SendError, choose_for_person, recipient_on};
use crate::connections::Connection;
use crate::conversations::ChannelContact;
use crate::gateway::{Content, MessageKind};
use crate::groups::{GroupCode, GroupRefusal, choose_connection};
use crate::store::Stored;

/// The connection that a message goes through.
struct Route<'f> {
    connection: &'f Stored<Connection>,
    /// False in a group where only administrators write and the connection's number is none.
    may_write: bool,
}

impl<'f> Route<'f> {
    /// The connection.
    ///
    /// # Errors
    ///
    /// [`SendError::GroupAnnounceOnly`].
    fn open(self) -> Result<&'f Stored<Connection>, SendError> {
        if self.may_write { Ok(self.connection) } else { Err(SendError::GroupAnnounceOnly) }
    }
}

impl Intent<'_> {
    /// The connection, of those that carry the content if `is_carrier`.
    fn route<'f>(
        &self,
        facts: &'f IntentFacts,
        group: Option<&GroupCode>,
        found: Option<&ChannelContact>,
        is_carrier: bool,
    ) -> Result<Route<'f>, SendError> {
        let wanted = self.order.wanted_connection();
        let Some(group) = group else {
            let connection = self.route_to_person(&facts.connections, found, is_carrier)?;
            return Ok(Route { connection, may_write: true });
        };
        let conversations = found.map_or(&[][..], |found| &found.conversations);
        let (connections, groups) = (&facts.connections, &facts.groups);
        let usable =
            |connection: &Connection| connection.is_usable() && self.gateways.serves(connection);
        let chosen = choose_connection(group, groups, connections, wanted, conversations, usable);
        let (id, may_write) = match chosen {
            Ok(id) => (id, true),
            Err(GroupRefusal::AnnounceOnly { connection }) => (connection, false),
            Err(refused) => return Err(refused.into()),
        };
        let connection = connections.iter().find(|connection| connection.id == id);
        let connection = connection.ok_or(SendError::ConnectionNotFound)?;
        Ok(Route { connection, may_write })
    }

    /// The connection to a person: one whose channel knows a name of theirs (D71).
    fn route_to_person<'f>(
        &self,
        connections: &'f [Stored<Connection>],
        found: Option<&ChannelContact>,
        is_carrier: bool,
    ) -> Result<&'f Stored<Connection>, NoConnection> {
        let wanted = self.order.wanted_connection();
        let last = found.and_then(|found| found.contact.last_connection_id);
        let fits = |connection: &Connection| match is_carrier {
            true => self.order.fits(connection, self.gateways),
            false => self.gateways.serves(connection),
        };
        let reaches = |connection: &Connection| {
            found.is_none_or(|found| recipient_on(found, connection).is_some())
        };
        let both = |connection: &Connection| fits(connection) && reaches(connection);
        choose_for_person(connections, wanted, last, both).map_err(|refused| {
            let may_be = |connection: &&Stored<Connection>| {
                let is_wanted = wanted.is_none_or(|wanted| wanted == connection.id);
                is_wanted && connection.is_usable() && fits(connection)
            };
            let mut candidates = connections.iter().filter(may_be).peekable();
            let is_nameless =
                candidates.peek().is_some() && candidates.all(|connection| !reaches(connection));
            if is_nameless { NoConnection::Nameless } else { refused }
        })
    }

    /// The connection that carries it, and what it carries: where no connection carries the
    /// content, the text in its place (X12, R320). That only administrators write comes after
    /// that (X10).
    pub(super) fn carried<'f>(
        &self,
        facts: &'f IntentFacts,
        group: Option<&GroupCode>,
        found: Option<&ChannelContact>,
    ) -> Result<(&'f Stored<Connection>, Content), SendError> {
        let content = &self.order.content;
        let refused = match self.route(facts, group, found, true) {
            Ok(route) if self.order.fits(route.connection, self.gateways) => {
                return Ok((route.open()?, content.clone()));
            }
            Ok(_) => None,
            Err(refused) => Some(refused),
        };
        if let (false, Some(refused)) = (self.order.is_named_kind(), refused) {
            return Err(refused);
        }
        let route = self.route(facts, group, found, false)?;
        let connection = route.connection;
        let supported = self.gateways.kinds(connection);
        match &self.order.fallback {
            Some(text) if supported.contains(&MessageKind::Text) => {
                Ok((route.open()?, Content::Text(text.clone())))
            }
            _ if !self.order.is_named_kind() => Ok((route.open()?, content.clone())),
            _ => {
                let (kind, provider) = (content.kind(), connection.kind);
                Err(SendError::NotSupported { kind, provider, supported })
            }
        }
    }
}
