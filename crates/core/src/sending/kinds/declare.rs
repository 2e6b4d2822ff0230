//! The bodies of one kind of message: alone, and as a send.

/// Declares what a message of one kind holds, as a body alone, and as the body of a send, which
/// names the recipient beside it.
macro_rules! sent_content {
    (
        $(#[doc = $doc:literal])+
        $send:ident as $send_schema:literal, $alone:ident as $alone_schema:literal {
            $($fields:tt)*
        }
        names: $($field:ident)+
    ) => {
        crate::body::body! {
            $(#[doc = $doc])+
            #[derive(Clone, PartialEq, Eq)]
            pub struct $alone as $alone_schema {
                $($fields)*
            }
        }

        crate::body::body! {
            $(#[doc = $doc])+
            #[derive(Clone, PartialEq, Eq)]
            pub struct $send as $send_schema {
                $($fields)*
                /// A phone number, or the code of a group or community. Needed where there is no
                /// `contact_id`.
                to: Option<String> = Optional<crate::sending::draft::RecipientText>,
                /// The contact, in place of `to`. Where both are given they have to mean one
                /// contact.
                contact as "contact_id": Option<crate::ids::ContactId> =
                    Optional<crate::ids::ContactId>,
                connection as "connection_id": Option<crate::ids::ConnectionId> =
                    Optional<crate::ids::ConnectionId>,
                /// The message of this contact that it answers.
                quoted as "quoted_message_id": Option<crate::ids::MessageId> =
                    Optional<crate::ids::MessageId>,
            }
        }

        impl $send {
            /// What it holds, and to whom it goes.
            pub(crate) fn split(self) -> ($alone, crate::sending::draft::SendTo) {
                let to = crate::sending::draft::SendTo {
                    to: self.to,
                    contact: self.contact,
                    connection: self.connection,
                    quoted: self.quoted,
                };
                ($alone { $($field: self.$field),+ }, to)
            }
        }
    };
}

pub(crate) use sent_content;
