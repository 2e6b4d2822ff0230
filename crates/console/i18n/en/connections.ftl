connections-title = Connections
