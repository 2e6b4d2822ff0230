//! Conversations: the state of a contact that messages and operators change (3.1, 3.4), and its
//! state on each connection.

mod act;
mod actions;
mod body;
mod channel;
mod conversation;
pub mod opt_out;
mod reads;
mod replies;
mod state;

pub use act::{Act, AiMode};
pub use actions::{
    Action, ActionName, Conversations, MoveConversation, ReadConversation, Transition,
};
pub use body::{
    AiModeBody, AssignBody, CloseBody, HandoffBody, OptOutBody, PauseAiBody, ReplyDraft,
    ReplyTemplateDraft, TakeOverBody, TurnDraft,
};
pub(crate) use channel::numbers;
pub use channel::{ChannelContact, ChannelQuery, meant_by_phone, twins};
pub use conversation::Conversation;
pub use opt_out::{StopWords, asks_to_stop};
pub use reads::ConversationReads;
pub use state::{ConversationState, ECHO_AFTER, ECHO_BEFORE, echo_is_reply};
