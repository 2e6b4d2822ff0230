inbox-title = Conversas
