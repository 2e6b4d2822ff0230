account-title = Account
