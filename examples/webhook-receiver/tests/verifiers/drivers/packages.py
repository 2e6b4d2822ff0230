# Reads lines of a form and what it needs in base64, answers each with true or false.
import base64
import sys

from standardwebhooks import Webhook, WebhookVerificationError

FORMS = {
    "whole": lambda secret: Webhook(secret.encode()),
    "rewritten": lambda secret: Webhook(secret[6:].replace("-", "+").replace("_", "/")),
    "text": lambda secret: Webhook(secret),
}

for line in sys.stdin:
    parts = [base64.b64decode(part) for part in line.rstrip("\n").split(" ")]
    form, secret, body, key, timestamp, signature = (part.decode() for part in parts)
    headers = {"webhook-id": key, "webhook-timestamp": timestamp, "webhook-signature": signature}
    webhook = FORMS[form](secret)
    try:
        webhook.verify(body, headers)
        print("true")
    except WebhookVerificationError:
        print("false")
