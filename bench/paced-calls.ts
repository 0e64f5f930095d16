/**
 * `bin/bun bench/paced-calls.ts URL KEY CALLS_PER_SECOND SECONDS`: makes small calls at a fixed rate, whatever the answers take, and prints
 * the milliseconds of each as JSON, from the moment that it was due. In a process of its own, so that nothing else of a run delays it.
 */
import { SMALL_REQUEST, UNARY_ANSWER_MARKS } from "./bodies.ts";

const [url = "", key = "", rate = "100", seconds = "10"] = process.argv.slice(2);
const everyMs = 1000 / Number(rate);
const count = Math.round(Number(rate) * Number(seconds));
const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
const times: number[] = [];

async function call(dueMs: number): Promise<void> {
  const answer = await fetch(`${url}/api/v1/chat/completions`, { method: "POST", headers, body: SMALL_REQUEST });
  const text = await answer.text();
  times.push(performance.now() - dueMs);
  if (answer.status === 200 && UNARY_ANSWER_MARKS.every((mark) => text.includes(mark))) return;
  throw new Error(`a response differed from what the upstream sent: ${answer.status} ${text.slice(0, 300)}`);
}

const startedMs = performance.now();
const calls: Promise<void>[] = [];
for (let number = 0; number < count; number++) {
  const dueMs = startedMs + number * everyMs;
  const waitMs = dueMs - performance.now();
  if (waitMs > 0) await Bun.sleep(waitMs);
  // A late timer of this process is not a delay of the gateway.
  calls.push(call(Math.max(dueMs, performance.now())));
}
await Promise.all(calls);
process.stdout.write(`${JSON.stringify(times)}\n`);
