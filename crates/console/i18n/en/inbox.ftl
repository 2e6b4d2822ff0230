inbox-title = Inbox
inbox-any = Any
inbox-assigned = Assigned to
inbox-connection = Connection
inbox-counts = Conversations by state
inbox-empty = No conversations here.
inbox-filter = Filter
inbox-filter-clear = Show all
inbox-me = Me
inbox-messages = Messages
inbox-nobody = Nobody
inbox-own = Sent:
inbox-search = Search
inbox-stage = Stage
inbox-state = State
inbox-status-open = Open
inbox-status-resolved = Closed
inbox-status-unread = Unread
inbox-tag = Tag
inbox-unread = New
inbox-unread-count = { $count ->
    [one] 1 new
   *[other] { $count } new
}
inbox-unread-only = Unread only
inbox-keys-next = Next conversation
inbox-keys-previous = Previous conversation
inbox-keys-search = Go to the search
