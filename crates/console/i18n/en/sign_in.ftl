sign-in-title = Sign in
sign-in-email = E-mail
sign-in-password = Password
sign-in-code = Code of your authenticator, if you have one
sign-in-submit = Sign in
