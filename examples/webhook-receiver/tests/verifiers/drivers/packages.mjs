// Reads lines of a form and what it needs in base64, answers each with true or false.
import { readFileSync } from "node:fs";
import { verify } from "@octokit/webhooks-methods";
import { Webhook } from "standardwebhooks";

const forms = {
  whole: (secret) => new Webhook(secret, { format: "raw" }),
  rewritten: (secret) => new Webhook(secret.slice(6).replaceAll("-", "+").replaceAll("_", "/")),
  text: (secret) => new Webhook(secret),
};

async function check(form, secret, body, ...rest) {
  if (form === "octokit") {
    // The package takes one signature at a time.
    const answers = await Promise.all(rest.filter(Boolean).map((it) => verify(secret, body, it)));
    return answers.includes(true);
  }
  const [id, timestamp, signature] = rest;
  const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature };
  const webhook = forms[form](secret);
  try {
    webhook.verify(body, headers);
    return true;
  } catch (error) {
    if (error.name !== "WebhookVerificationError") throw error;
    return false;
  }
}

for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const parts = line.split(" ").map((part) => Buffer.from(part, "base64").toString());
  console.log(await check(...parts));
}
