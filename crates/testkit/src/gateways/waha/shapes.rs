//! Messages and groups in the forms of the engines.

use serde_json::{Value, json};

use super::{State, WahaEngine, WahaGroup, WahaSent};

/// The address of a chat in the form of the engines' libraries.
fn jid(chat: &str) -> String {
    chat.replace("@c.us", "@s.whatsapp.net")
}

impl State {
    fn seconds(&self) -> i64 {
        self.now.millis().div_euclid(1000)
    }

    /// The other id of a chat: the LID of a phone, the phone of a LID.
    fn alternative(&self, chat: &str) -> Option<String> {
        if !self.reports_names {
            return None;
        }
        match chat.strip_suffix("@c.us") {
            Some(digits) => self.lids.get(digits).cloned(),
            None => {
                let digits =
                    self.lids.iter().find(|(_, lid)| *lid == chat).map(|(digits, _)| digits);
                digits.map(|digits| format!("{digits}@s.whatsapp.net"))
            }
        }
    }

    /// A message that the session's number sent: `source` is `api` or `app`.
    pub(super) fn own_message(
        &self,
        raw_id: &str,
        chat: &str,
        text: &str,
        source: &str,
        ack: i64,
    ) -> Value {
        let me = self.me.0.as_str();
        let is_group = chat.ends_with("@g.us");
        let member = if is_group { format!("_{me}") } else { String::new() };
        let other = self.alternative(chat);
        let data = match self.engine {
            WahaEngine::Gows => json!({"Info": {"ID": raw_id, "Chat": jid(chat), "IsFromMe": true,
                "RecipientAlt": other.unwrap_or_default(), "PushName": "Loja"},
                "Message": {"conversation": text}}),
            WahaEngine::Noweb => json!({"key": {"remoteJid": jid(chat), "fromMe": true,
                "id": raw_id, "remoteJidAlt": other}, "message": {"conversation": text},
                "pushName": "Loja"}),
            WahaEngine::Webjs => json!({"type": "chat", "notifyName": "Loja"}),
        };
        json!({"id": format!("true_{chat}_{raw_id}{member}"), "timestamp": self.seconds(),
            "from": me, "to": chat, "fromMe": true, "source": source, "body": text,
            "participant": if is_group { Value::from(me) } else { Value::Null },
            "hasMedia": false, "media": null, "ack": ack, "vCards": [], "_data": data})
    }

    /// A message to the session's number, in a chat with a person or, by `member`, in a group.
    pub(super) fn received_message(
        &mut self,
        chat: &str,
        member: Option<&str>,
        name: &str,
        text: &str,
    ) -> Value {
        let raw_id = format!("3A{:018X}", self.made + 1);
        self.made += 1;
        let sender = member.unwrap_or(chat);
        let other = self.alternative(sender);
        let suffix = member.map(|member| format!("_{member}")).unwrap_or_default();
        let data = match self.engine {
            WahaEngine::Gows => json!({"Info": {"ID": raw_id, "Chat": jid(chat),
                "Sender": jid(sender), "SenderAlt": other.unwrap_or_default(), "IsFromMe": false,
                "IsGroup": member.is_some(), "PushName": name},
                "Message": {"conversation": text}}),
            WahaEngine::Noweb if member.is_some() => json!({"key": {"remoteJid": chat,
                "fromMe": false, "id": raw_id, "participant": jid(sender),
                "participantAlt": other}, "message": {"conversation": text}, "pushName": name}),
            WahaEngine::Noweb => json!({"key": {"remoteJid": jid(chat), "fromMe": false,
                "id": raw_id, "remoteJidAlt": other}, "message": {"conversation": text},
                "pushName": name}),
            WahaEngine::Webjs => json!({"type": "chat", "notifyName": name}),
        };
        json!({"id": format!("false_{chat}_{raw_id}{suffix}"), "timestamp": self.seconds(),
            "from": chat, "to": self.me.0, "fromMe": false, "source": "app",
            "participant": member, "body": text, "hasMedia": false, "media": null, "ack": 2,
            "ackName": "DEVICE", "replyTo": null, "vCards": [], "_data": data})
    }

    /// The engine's answer to a send.
    pub(super) fn answer_of(&self, order: &WahaSent, message: &Value) -> Value {
        match self.engine {
            WahaEngine::Webjs => message.clone(),
            // Polls are answered in WAHA's own form.
            WahaEngine::Noweb if order.route == "sendPoll" => message.clone(),
            WahaEngine::Gows => json!({"id": message["id"], "_data": message["_data"]}),
            WahaEngine::Noweb => json!({"key": {"remoteJid": jid(&order.chat), "fromMe": true,
                "id": order.raw_id}, "message": self.proto_of(order),
                "messageTimestamp": self.seconds().to_string(), "status": 1}),
        }
    }

    /// A group in the form of the engine.
    pub(super) fn group_of(&self, group: &WahaGroup) -> Value {
        let (me, lid) = (jid(&self.me.0), self.me.1.as_str());
        let role = if group.is_admin { json!("admin") } else { Value::Null };
        let mut reported = match self.engine {
            WahaEngine::Noweb => json!({"subject": group.subject,
                "announce": group.announce_only, "restrict": false,
                "isCommunity": group.is_community, "isCommunityAnnounce": group.is_announcement,
                "linkedParent": group.community, "addressingMode": "lid",
                "participants": [{"id": "9@lid", "admin": "superadmin"},
                    {"id": lid, "admin": role}]}),
            WahaEngine::Gows => json!({"JID": group.id, "Name": group.subject,
                "IsAnnounce": group.announce_only, "IsLocked": false,
                "IsParent": group.is_community, "IsDefaultSubGroup": group.is_announcement,
                "LinkedParentJID": group.community.clone().unwrap_or_default(),
                "Participants": [
                    {"JID": "9@lid", "PhoneNumber": "", "IsAdmin": true, "IsSuperAdmin": true},
                    {"JID": lid, "PhoneNumber": me, "IsAdmin": group.is_admin,
                        "IsSuperAdmin": false}]}),
            WahaEngine::Webjs => json!({"id": {"_serialized": group.id}, "name": group.subject,
                "isGroup": true, "groupMetadata": {"id": {"_serialized": group.id},
                    "subject": group.subject, "announce": group.announce_only,
                    "isParentGroup": group.is_community, "defaultSubgroup": group.is_announcement,
                    "parentGroup": group.community,
                    "participants": [{"id": {"_serialized": "9@lid"}, "isAdmin": true},
                        {"id": {"_serialized": self.me.0}, "isAdmin": group.is_admin,
                            "isSuperAdmin": false}]}}),
        };
        if !self.reports_members {
            for name in ["participants", "Participants", "groupMetadata"] {
                reported.as_object_mut().map(|reported| reported.remove(name));
            }
        }
        reported
    }
}
