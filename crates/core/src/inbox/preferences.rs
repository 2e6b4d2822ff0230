//! Whether contacts accept marketing messages, as the official channel reports it (D43, D44).

use std::time::Duration;

use super::messages::{UNREADABLE, moved};
use super::people::Names;
use super::person::Person;
use super::workspace::Workspace;
use super::{Batch, EventIds, EventOutcome, EventResult};
use crate::Timestamp;
use crate::connections::ConnectionKind;
use crate::conversations::{Act, ConversationState};
use crate::gateway::{Preference, PreferenceReport};
use crate::messages::{OptOutSource, contact_opted_out};

/// How much the clocks of the channel, of gateways and of this server may differ.
const CLOCKS_DIFFER: Duration = Duration::from_secs(10 * 60);
/// How late a gateway's call may be: Meta repeats one for that long. An earlier time is treated as
/// that of a wrong clock (R124).
const CALLED_AGAIN: Duration = Duration::from_secs(7 * 24 * 60 * 60);
impl Workspace<'_> {
    /// Whether a contact accepts marketing messages (D43, D44); only the official channel reports
    /// it (R33).
    pub(super) fn take_preference(
        &mut self,
        batch: &Batch,
        event: &PreferenceReport,
        ids: &EventIds,
    ) -> EventResult {
        if self.connection.kind == ConnectionKind::Qr {
            return EventResult::ignored("preferences count on official connections only");
        }
        let Some(names) = Names::new(&event.peer, &event.aliases, &batch.group_suffix) else {
            return EventResult::refused("from is not a name of a contact");
        };
        let known = self.find(&names);
        let index = match (known, event.preference) {
            (Some(index), _) => index,
            (None, Preference::Resume) => return EventResult::ignored("no such contact"),
            (None, Preference::Stop) => match self.match_or_create(&names, ids) {
                Some(matched) => matched.index(),
                None => return EventResult::refused(UNREADABLE),
            },
        };
        let at = event.timestamp.unwrap_or(self.now);
        if event.preference == Preference::Resume {
            return self.resume(index, at, event.history);
        }
        // D70: a wish from before the last opt-in that turns up later has no effect.
        let opted_in_at = self.people.as_ref().and_then(|all| all[index].contact.now.opted_in_at);
        if event.history && opted_in_at.is_some_and(|since| at <= since) {
            return EventResult::ignored("they have accepted messages since");
        }
        let now = self.now;
        let Some(person) = self.people.as_mut().and_then(|people| people.get_mut(index)) else {
            return EventResult::refused(UNREADABLE);
        };
        let before = person.contact.now.clone();
        let act = Act::OptedOut { at };
        let announces = ConversationState::of(&before).announces_opt_out(&act);
        person.contact.now = moved(&before, act, now);
        if person.contact.now == before {
            return EventResult::of(EventOutcome::Duplicate);
        }
        if announces {
            let (source, connection) =
                (OptOutSource::OfficialCloudInbound, Some(self.connection.id));
            let event =
                contact_opted_out(ids.events[3], &person.contact.now, connection, source, now);
            self.emit(event);
        }
        EventResult::of(EventOutcome::Stored)
    }

    /// Lifts the block of a person, that is of every contact that is this person (D44, R161): one
    /// that keeps it would keep all of them from being written to. If they asked to stop since,
    /// nothing is lifted (R124).
    fn resume(&mut self, index: usize, at: Timestamp, history: bool) -> EventResult {
        let now = self.now;
        let Some(people) = self.people.as_mut() else { return EventResult::refused(UNREADABLE) };
        let numbers = people[index].numbers();
        let id = people[index].contact.now.id;
        let platform = people[index].contact.now.source_platform.clone();
        let is_same = |person: &&mut Person| {
            person.contact.now.id == id
                || person.contact.now.source_platform == platform
                    && person.numbers().iter().any(|number| numbers.contains(number))
        };
        let same: Vec<&mut Person> = people.iter_mut().filter(is_same).collect();
        let asked_since = same.iter().any(|person| {
            person.contact.now.opted_out_at.is_some_and(|since| {
                let is_later = at.plus(CLOCKS_DIFFER) < since && since <= at.plus(CALLED_AGAIN);
                is_later || history && at < since
            })
        });
        if asked_since {
            return EventResult::ignored("they have asked to stop since");
        }
        let mut is_news = false;
        for person in same {
            let after = moved(&person.contact.now, Act::OptedIn { at }, now);
            is_news |= after != person.contact.now;
            person.contact.now = after;
        }
        EventResult::of(if is_news { EventOutcome::Stored } else { EventOutcome::Duplicate })
    }
}
