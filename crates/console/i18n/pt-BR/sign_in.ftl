sign-in-title = Entrar
sign-in-email = E-mail
sign-in-password = Senha
sign-in-code = Código do seu autenticador, se você tiver um
sign-in-submit = Entrar
sign-in-wrong = O e-mail, a senha ou o código não está certo.
sign-in-code-needed = Digite o código do seu autenticador, ou um código de recuperação.
sign-in-limited = Houve tentativas demais. Espere alguns minutos e tente de novo.
