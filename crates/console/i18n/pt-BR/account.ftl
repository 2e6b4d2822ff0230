account-title = Conta
