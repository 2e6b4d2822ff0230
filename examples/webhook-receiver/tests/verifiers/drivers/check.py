# Reads lines of secret, body and signatures in base64, answers each with true or false.
import base64
import importlib.util
import sys

spec = importlib.util.spec_from_file_location("snippet", sys.argv[1])
snippet = importlib.util.module_from_spec(spec)
spec.loader.exec_module(snippet)
for line in sys.stdin:
    secret, body, *signatures = [base64.b64decode(part) for part in line.rstrip("\n").split(" ")]
    texts = [signature.decode() or None for signature in signatures]
    print("true" if snippet.verify(secret.decode(), body, *texts) else "false")
