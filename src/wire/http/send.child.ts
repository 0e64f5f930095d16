/** Runs as a separate process with another environment: posts to each URL and prints the results. */
import { system } from "../../base/system.ts";
import { createSend, sendFailure } from "../send.ts";

const send = createSend(system.clock);

for (const url of process.argv.slice(2)) {
  try {
    const ownLines = "x-own: 00-ab: c\r\nx-other: a=1\r\n";
    const answer = await send({ url, headers: { "x-test": "1" }, ownLines, body: "hello" }).answer();
    const parts: Uint8Array[] = [];
    for (let part = await answer.read(); part; part = await answer.read()) parts.push(part);
    console.log(`${answer.status} ${Buffer.concat(parts).toString()}`);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined;
    console.log(sendFailure(error), cause && "code" in cause ? cause.code : "");
  }
}
