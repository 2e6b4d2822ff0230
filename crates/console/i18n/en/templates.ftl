templates-title = Templates
