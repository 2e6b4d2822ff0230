contacts-title = Contatos
