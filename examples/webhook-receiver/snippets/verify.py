# Python 3.8 or newer, nothing to install. `body` is the raw body as bytes: `request.get_data()` in
# Flask, `request.body` in Django, `await request.body()` in FastAPI. Hand in both signature
# headers; the one that is missing is None.
import hashlib
import hmac


def verify(secret, body, *signatures):
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    expected = ("sha256=" + digest).encode()
    return any(hmac.compare_digest((given or "").encode(), expected) for given in signatures)


# verify(secret, body, request.headers.get("X-Service-Signature"),
#        request.headers.get("X-Service-Signature-Previous"))
