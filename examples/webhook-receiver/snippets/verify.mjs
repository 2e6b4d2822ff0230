// Node 18 or newer, nothing to install. `body` is the raw body as a Buffer: in Express
// `express.raw({ type: "application/json" })`, in Fastify a content type parser with
// `parseAs: "buffer"`. Hand in both signature headers; the one that is missing is undefined.
import { createHmac, timingSafeEqual } from "node:crypto";

export function verify(secret, body, ...signatures) {
  const expected = Buffer.from("sha256=" + createHmac("sha256", secret).update(body).digest("hex"));
  return signatures.some((signature) => {
    const given = Buffer.from(signature ?? "");
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

// verify(secret, request.body,
//   request.headers["x-service-signature"], request.headers["x-service-signature-previous"])
