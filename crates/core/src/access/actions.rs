//! What operators do, and which role each action needs (R380).

use super::OperatorRole;

/// Declares the actions: under the least role that may do them, each with its word.
macro_rules! actions {
    ($($role:ident { $($(#[doc = $doc:literal])+ $action:ident = $word:literal,)+ })+) => {
        /// A use case that the operator API calls. Its word is the `operationId` of the OpenAPI
        /// document.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum OperatorAction {
            $($($(#[doc = $doc])+ $action,)+)+
        }

        impl OperatorAction {
            /// Every action.
            pub const ALL: &'static [Self] = &[$($(Self::$action),+),+];

            /// The word it is written as.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($(Self::$action => $word,)+)+
                }
            }

            /// The least role that may do it (R380).
            pub const fn least_role(self) -> OperatorRole {
                match self {
                    $($(Self::$action)|+ => OperatorRole::$role,)+
                }
            }
        }
    };
}

actions! {
    Viewer {
        /// List companies.
        ListCompanies = "listCompanies",
        /// Read a company.
        GetCompany = "getCompany",
        /// List campaigns.
        ListCompanyCampaigns = "listCompanyCampaigns",
        /// Read a campaign.
        GetCampaign = "getCampaign",
        /// Show what a contact would get from a campaign.
        PreviewCampaign = "previewCampaign",
        /// List the recipients of a campaign.
        ListCompanyCampaignRecipients = "listCompanyCampaignRecipients",
        /// List close reasons.
        ListCloseReasons = "listCloseReasons",
        /// Read a close reason.
        GetCloseReason = "getCloseReason",
        /// List connections.
        ListConnections = "listConnections",
        /// Read a connection.
        GetConnection = "getConnection",
        /// List the groups of a connection.
        ListGroups = "listGroups",
        /// List contacts by last message.
        ListOperatorContacts = "listOperatorContacts",
        /// Find contacts that are one person.
        ListDuplicateContacts = "listDuplicateContacts",
        /// List the documents of a contact.
        ListDocuments = "listDocuments",
        /// Read the bytes of a document.
        ReadDocument = "readDocument",
        /// List definitions of custom fields.
        ListCompanyCustomFields = "listCompanyCustomFields",
        /// Read a custom field.
        GetCustomField = "getCustomField",
        /// List deals.
        ListDeals = "listDeals",
        /// Read a deal.
        GetDeal = "getDeal",
        /// List tracked links.
        ListLinks = "listLinks",
        /// Read a tracked link.
        GetLink = "getLink",
        /// List lists.
        ListCompanyLists = "listCompanyLists",
        /// Read a list.
        GetList = "getList",
        /// List the contacts of a list by last message.
        ListContactsOfList = "listContactsOfList",
        /// List members.
        ListMembers = "listMembers",
        /// Read a member.
        GetMember = "getMember",
        /// List messages.
        ListOperatorMessages = "listOperatorMessages",
        /// Read a message.
        GetMessage = "getMessage",
        /// List organizations.
        ListOrganizations = "listOrganizations",
        /// Read an organization.
        GetOrganization = "getOrganization",
        /// List pipelines with their stages.
        ListPipelines = "listPipelines",
        /// Read a pipeline.
        GetPipeline = "getPipeline",
        /// List tags.
        ListTags = "listTags",
        /// Read a tag.
        GetTag = "getTag",
        /// List templates.
        ListTemplates = "listTemplates",
        /// Read a template.
        GetTemplate = "getTemplate",
        /// List the gateways that connections can use.
        ListGateways = "listGateways",
    }
    Agent {
        /// Read everything of a contact.
        GetOperatorContact = "getOperatorContact",
        /// Change a contact as the operator.
        PatchOperatorContact = "patchOperatorContact",
        /// Pick who answers.
        PickAiMode = "pickAiMode",
        /// Assign a conversation, or take it from everybody.
        AssignConversation = "assignConversation",
        /// Block a contact.
        BlockContact = "blockContact",
        /// Close a conversation.
        CloseConversation = "closeConversation",
        /// Attach a document to a contact.
        AttachDocument = "attachDocument",
        /// Switch the external AI on again.
        EnableExternalAi = "enableExternalAi",
        /// Hand a conversation to people.
        HandOffConversation = "handOffConversation",
        /// Read the lead memory of a contact.
        GetLeadMemory = "getLeadMemory",
        /// Add to the lead memory of a contact.
        MergeLeadMemory = "mergeLeadMemory",
        /// Lift a block of the contact's own.
        OptInContact = "optInContact",
        /// Pause the AI.
        PauseAi = "pauseAi",
        /// Mark a conversation as read.
        ReadConversation = "readConversation",
        /// Send an agent's text.
        ReplyToContact = "replyToContact",
        /// Send a file for an agent.
        ReplyWithMedia = "replyWithMedia",
        /// Send an approved template for an agent.
        ReplyWithTemplate = "replyWithTemplate",
        /// Lift the pause of the AI.
        ResumeAi = "resumeAi",
        /// Take a conversation over.
        TakeOverConversation = "takeOverConversation",
        /// Show a contact that somebody writes.
        TypeToContact = "typeToContact",
        /// Lift the block of a contact.
        UnblockContact = "unblockContact",
        /// Make a deal.
        CreateDeal = "createDeal",
        /// Delete a deal.
        DeleteDeal = "deleteDeal",
        /// Change a deal.
        UpdateDeal = "updateDeal",
        /// Make a tracked link for a contact.
        CreateLink = "createLink",
        /// Remove contacts from a list.
        RemoveFromList = "removeFromList",
        /// Add contacts to a list.
        AddToList = "addToList",
        /// Take a message back that was sent.
        TakeMessageBack = "takeMessageBack",
        /// Change a message that was sent.
        ChangeMessage = "changeMessage",
        /// React to a message, or withdraw the reaction.
        ReactToMessage = "reactToMessage",
        /// Mark a received message, and what came before it, as read.
        ReadMessage = "readMessage",
    }
    Manager {
        /// Make a campaign: one template to the contacts of a list.
        CreateCampaign = "createCampaign",
        /// Delete a campaign and its recipients.
        DeleteCampaign = "deleteCampaign",
        /// Change a campaign.
        UpdateCampaign = "updateCampaign",
        /// Pause a campaign.
        PauseCampaign = "pauseCampaign",
        /// Start a campaign, or let it go on.
        StartCampaign = "startCampaign",
        /// Make a close reason.
        CreateCloseReason = "createCloseReason",
        /// Delete a close reason that no contact was closed with.
        DeleteCloseReason = "deleteCloseReason",
        /// Change a close reason.
        UpdateCloseReason = "updateCloseReason",
        /// Ask the gateway whether it reaches its channel.
        CheckConnection = "checkConnection",
        /// Store events of a gateway in the neutral form.
        ReceiveEvents = "receiveEvents",
        /// Read the code that a phone is paired with.
        ReadPairingCode = "readPairingCode",
        /// Read the groups of a connection from its gateway.
        SyncGroups = "syncGroups",
        /// Read the templates of a connection from its gateway.
        SyncTemplates = "syncTemplates",
        /// List what the gateway sent and Recado did not understand.
        ListUnknownEvents = "listUnknownEvents",
        /// Import a contact.
        ImportContact = "importContact",
        /// Delete a contact with its documents.
        DeleteOperatorContact = "deleteOperatorContact",
        /// Export everything that is kept about a contact.
        ExportContact = "exportContact",
        /// Send the bubbles of one turn of the service's AI.
        TakeAiTurn = "takeAiTurn",
        /// Write the lead memory of a contact as it is given.
        PutLeadMemory = "putLeadMemory",
        /// Make one contact of two that are one person.
        MergeContacts = "mergeContacts",
        /// Announce a block of the contact's own.
        BackfillOptOut = "backfillOptOut",
        /// Make a custom field.
        CreateCustomField = "createCustomField",
        /// Delete a custom field; its values are shown no more.
        DeleteCustomField = "deleteCustomField",
        /// Change a custom field.
        UpdateCustomField = "updateCustomField",
        /// List deliveries to outbound webhooks.
        ListDeliveries = "listDeliveries",
        /// Read a delivery with its body and its attempts.
        GetDelivery = "getDelivery",
        /// Start a fresh series of attempts at a delivery.
        Redeliver = "redeliver",
        /// List inbound endpoints.
        ListInboundEndpoints = "listInboundEndpoints",
        /// Read an inbound endpoint.
        GetInboundEndpoint = "getInboundEndpoint",
        /// List API keys.
        ListKeys = "listKeys",
        /// Read an API key.
        GetKey = "getKey",
        /// Delete a tracked link with its clicks.
        DeleteLink = "deleteLink",
        /// Make a list.
        CreateList = "createList",
        /// Delete a list; its contacts stay.
        DeleteList = "deleteList",
        /// Change a list.
        UpdateList = "updateList",
        /// Make a list hold these contacts and no other.
        ReplaceListContacts = "replaceListContacts",
        /// Make a member.
        CreateMember = "createMember",
        /// Delete a member that no contact is assigned to.
        DeleteMember = "deleteMember",
        /// Change a member.
        UpdateMember = "updateMember",
        /// List the logins of members.
        ListLogins = "listLogins",
        /// Give a member a login, with a one-time link to choose its password.
        InviteMember = "inviteMember",
        /// Read the login of a member.
        GetLogin = "getLogin",
        /// Change the login of a member: its address, its role, whether it is disabled.
        UpdateLogin = "updateLogin",
        /// Remove the login of a member, with its sessions.
        DeleteLogin = "deleteLogin",
        /// Make a one-time link to choose a new password.
        ResetLogin = "resetLogin",
        /// Remove the second factor of a member's login.
        DeleteLoginTotp = "deleteLoginTotp",
        /// List the sessions of a member.
        ListSessions = "listSessions",
        /// End all sessions of a member.
        DeleteSessions = "deleteSessions",
        /// End a session of a member.
        DeleteSession = "deleteSession",
        /// Import a message.
        ImportMessage = "importMessage",
        /// Make a pipeline.
        CreatePipeline = "createPipeline",
        /// Delete a pipeline whose stages hold no deal.
        DeletePipeline = "deletePipeline",
        /// Change a pipeline.
        UpdatePipeline = "updatePipeline",
        /// Book what a turn or a message cost.
        BookDebit = "bookDebit",
        /// Give a debit back, as a whole or in part.
        BookRefund = "bookRefund",
        /// Make a tag.
        CreateTag = "createTag",
        /// Delete a tag; contacts lose it.
        DeleteTag = "deleteTag",
        /// Change a tag.
        UpdateTag = "updateTag",
        /// Make a template.
        CreateTemplate = "createTemplate",
        /// Delete a template.
        DeleteTemplate = "deleteTemplate",
        /// Change a template.
        UpdateTemplate = "updateTemplate",
        /// List outbound webhooks.
        ListWebhooks = "listWebhooks",
        /// Read an outbound webhook.
        GetWebhook = "getWebhook",
        /// Send a webhook.test delivery to a webhook.
        TestWebhook = "testWebhook",
    }
    Owner {
        /// Make a company.
        CreateCompany = "createCompany",
        /// Delete a company with everything that it has.
        DeleteCompany = "deleteCompany",
        /// Change a company.
        UpdateCompany = "updateCompany",
        /// Make a connection.
        CreateConnection = "createConnection",
        /// Delete a connection, or deactivate one that is used.
        DeleteConnection = "deleteConnection",
        /// Change a connection.
        UpdateConnection = "updateConnection",
        /// Replace the groups of a connection.
        ReplaceGroups = "replaceGroups",
        /// Make an inbound endpoint.
        CreateInboundEndpoint = "createInboundEndpoint",
        /// Delete an inbound endpoint.
        DeleteInboundEndpoint = "deleteInboundEndpoint",
        /// Change an inbound endpoint.
        UpdateInboundEndpoint = "updateInboundEndpoint",
        /// Replace the secret of an inbound endpoint.
        RotateInboundEndpointSecret = "rotateInboundEndpointSecret",
        /// Make an API key.
        CreateKey = "createKey",
        /// Revoke an API key at once.
        DeleteKey = "deleteKey",
        /// Change an API key.
        UpdateKey = "updateKey",
        /// Replace the token of a template.
        RotateTemplateToken = "rotateTemplateToken",
        /// Register an outbound webhook.
        CreateWebhook = "createWebhook",
        /// Delete an outbound webhook.
        DeleteWebhook = "deleteWebhook",
        /// Change an outbound webhook.
        UpdateWebhook = "updateWebhook",
        /// Replace the signing secret of a webhook.
        RotateWebhookSecret = "rotateWebhookSecret",
        /// List operator tokens.
        ListOperatorTokens = "listOperatorTokens",
        /// Make an operator token.
        CreateOperatorToken = "createOperatorToken",
        /// Read an operator token.
        GetOperatorToken = "getOperatorToken",
        /// Change an operator token.
        UpdateOperatorToken = "updateOperatorToken",
        /// Revoke an operator token at once.
        DeleteOperatorToken = "deleteOperatorToken",
        /// List the audit log of the installation.
        ListAuditEntries = "listAuditEntries",
        /// List the audit log of a company.
        ListCompanyAuditEntries = "listCompanyAuditEntries",
    }
}

impl OperatorAction {
    /// Whether it is about the installation: who reaches one company only may not do it (R381).
    pub const fn is_of_installation(self) -> bool {
        matches!(self, Self::CreateCompany | Self::DeleteCompany | Self::ListAuditEntries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R380.
    #[test]
    fn the_words_of_actions_are_different() {
        let words: std::collections::BTreeSet<_> =
            OperatorAction::ALL.iter().map(|action| action.as_str()).collect();
        assert_eq!(words.len(), OperatorAction::ALL.len());
    }
}
