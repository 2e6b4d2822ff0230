// Reads lines of secret, body and signatures in base64, answers each with true or false.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { verify } = await import(pathToFileURL(process.argv[2]));
for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const [secret, body, ...signatures] = line.split(" ").map((part) => Buffer.from(part, "base64"));
  const texts = signatures.map((signature) => signature.toString() || undefined);
  console.log(verify(secret.toString(), body, ...texts));
}
