integration-title = Integration
