//! The actions and events that change a conversation (3.1).

use crate::Timestamp;
use crate::ids::{CloseReasonId, MemberId};
use crate::words::words;

words! {
    /// Who answers a contact, as set in the AI menu of the inbox.
    AiMode {
        /// The service's AI.
        Service = "service",
        /// The company's own automation.
        External = "external",
        /// People only.
        Off = "off",
    }
}

/// What happens to a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// The contact wrote.
    CustomerWrote,
    /// A campaign or a template was sent to the contact.
    TemplateSent,
    /// An agent wrote through the service.
    AgentReplied {
        /// The member it is assigned to by that.
        member: Option<MemberId>,
    },
    /// The operator wrote on the paired phone.
    Echoed {
        /// Whether that counts as an operator's reply (see
        /// [`echo_is_reply`](super::echo_is_reply)).
        is_reply: bool,
    },
    /// An agent took over.
    TakenOver {
        /// The agent.
        member: MemberId,
    },
    /// It was handed off to people.
    HandedOff {
        /// The member it is assigned to by that.
        member: Option<MemberId>,
    },
    /// It was assigned, or its assignment was removed.
    Assigned {
        /// To whom.
        member: Option<MemberId>,
    },
    /// It was closed.
    Closed {
        /// When.
        at: Timestamp,
        /// Why.
        reason: Option<CloseReasonId>,
        /// The member it is assigned to by that.
        member: Option<MemberId>,
    },
    /// The AI was paused.
    AiPaused {
        /// Until when.
        until: Timestamp,
    },
    /// The pause was lifted.
    AiResumed,
    /// Another mode was chosen in the AI menu (R22).
    AiModePicked(AiMode),
    /// The external AI was switched on again.
    ExternalAiEnabled,
    /// The company blocked the contact.
    Blocked,
    /// The company lifted its block.
    Unblocked,
    /// The contact asked not to receive messages.
    OptedOut {
        /// The provider's time of the request.
        at: Timestamp,
    },
    /// The platform announced a block, maybe one from before blocks were announced.
    OptOutBackfilled {
        /// Since when the contact is blocked, unless that is known.
        at: Timestamp,
    },
    /// The contact may receive messages again.
    OptedIn {
        /// When the block was lifted.
        at: Timestamp,
    },
}
