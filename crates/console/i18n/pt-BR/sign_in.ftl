sign-in-title = Entrar
sign-in-email = E-mail
sign-in-password = Senha
sign-in-code = Código do seu autenticador, se você tiver um
sign-in-submit = Entrar
