contacts-title = Contacts
