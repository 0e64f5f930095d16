/** A process beside the tests', which differs from theirs in its environment: posts to each address and prints what came. */
import { system } from "../../base/system.ts";
import { createPost, postFailure } from "../post.ts";

const post = createPost(system.clock);

for (const url of process.argv.slice(2)) {
  try {
    const answer = await post(url, { "x-test": "1" }, "hello").answer();
    const parts: Uint8Array[] = [];
    for (let part = await answer.read(); part; part = await answer.read()) parts.push(part);
    console.log(`${answer.status} ${Buffer.concat(parts).toString()}`);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined;
    console.log(postFailure(error), cause && "code" in cause ? cause.code : "");
  }
}
