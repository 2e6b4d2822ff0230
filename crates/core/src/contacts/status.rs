//! The states of a contact, for operators and in the inbox.

use crate::words::words;

words! {
    /// Whether the conversation is open (3.1).
    InboxStatus {
        /// It is open.
        Open = "open",
        /// It was closed.
        Resolved = "resolved",
    }
}

words! {
    /// How urgent the contact is (D19).
    Priority {
        /// Can wait.
        Low = "low",
        /// The usual priority.
        Normal = "normal",
        /// More urgent than most.
        High = "high",
        /// More urgent than all others.
        Urgent = "urgent",
    }
}

words! {
    /// Where the contact stands in the company's CRM (D19).
    CrmStatus {
        /// New.
        Lead = "lead",
        /// May become a customer.
        Prospect = "prospect",
        /// Is a customer.
        Customer = "customer",
        /// Was a customer.
        Inactive = "inactive",
        /// Will not become one.
        Lost = "lost",
    }
}
