integration-title = Integração
