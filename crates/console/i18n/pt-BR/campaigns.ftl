campaigns-title = Campanhas
