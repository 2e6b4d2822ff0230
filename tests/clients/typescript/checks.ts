// What the calls have in common: values that are kept from one for the next, and the check of an answer.

/** Values of earlier calls, by name. */
export const kept: Record<string, string> = JSON.parse(process.env["RECADO_KEPT"] ?? "{}");

let called = 0;

/** Keeps a value. Of the link to a file its last part is kept. */
export function keep(name: string, value: string | null | undefined): void {
  if (!value) {
    throw new Error(`there is no ${name} in the answer`);
  }
  kept[name] = name === "media_url" ? value.slice(value.lastIndexOf("/") + 1) : value;
}

/** Fails unless the status is accepted and an answer with a body has been read. */
export function checked(
  name: string,
  answer: { response: Response; data?: unknown; error?: unknown },
  statuses: number[] | null,
): void {
  const { status } = answer.response;
  if (statuses ? !statuses.includes(status) : status !== 200 && status !== 201) {
    throw new Error(`${name}: ${status} ${JSON.stringify(answer.error)}`);
  }
  if (status < 300 && answer.data === undefined) {
    throw new Error(`${name}: no answer was read`);
  }
  called += 1;
}

/** Calls again while the status is `on`, or until the answer has something. */
export async function again<T extends { response: Response }>(
  on: number | null,
  until: ((answer: T) => unknown) | undefined,
  call: () => Promise<T>,
): Promise<T> {
  for (let left = 100; ; left -= 1) {
    const answer = await call();
    const waits = answer.response.status === on || (until !== undefined && !until(answer));
    if (!waits || left === 0) {
      return answer;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

process.on("exit", (code) => {
  if (code === 0) {
    console.log(`${called} calls`);
  }
});
