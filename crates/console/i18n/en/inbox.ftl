inbox-title = Inbox
