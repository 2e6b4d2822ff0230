campaigns-title = Campaigns
