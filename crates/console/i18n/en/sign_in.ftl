sign-in-title = Sign in
sign-in-email = E-mail
sign-in-password = Password
sign-in-code = Code of your authenticator, if you have one
sign-in-submit = Sign in
sign-in-wrong = The address, the password or the code is not right.
sign-in-code-needed = Enter the code that your authenticator shows, or a recovery code.
sign-in-limited = There were too many attempts. Wait some minutes, then try again.
