connections-title = Conexões
