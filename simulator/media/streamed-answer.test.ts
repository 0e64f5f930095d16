import { afterAll, expect, test } from "bun:test";
import { eventually } from "../../testing/eventually.ts";
import { startSimulator } from "../simulator.ts";

const simulator = await startSimulator({ mediaJobMs: 0, tokenDelayMs: 0 });
afterAll(() => simulator.stop());

/** More images than a connection holds, so that the answer waits for its reader. */
const BODY = { model: "gpt-image-2", prompt: "a cat", size: "2048x2048", n: 10, stream: true };

const ask = (body: object, signal?: AbortSignal): Promise<Response> =>
  fetch(`${simulator.url}/openai/v1/images/generations`, {
    method: "POST",
    headers: { authorization: "Bearer any-key", "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });

test("a streamed answer ends with its last chunk", async () => {
  const response = await ask({ ...BODY, size: "128x128", n: 2, partial_images: 1 });
  const reader = response.body?.getReader();
  await reader?.read();
  while (!(await reader?.read())?.done);
  await eventually("the request to end", () => simulator.stats().openRequests === 0);
  expect(simulator.stats().aborted).toBe(0);
});

test("a client that leaves a streamed answer is counted as gone", async () => {
  const leaving = new AbortController();
  const response = await ask(BODY, leaving.signal);
  await response.body?.getReader().read();
  expect(simulator.stats().openRequests).toBe(1);
  leaving.abort();
  await eventually("the client to be counted", () => simulator.stats().aborted === 1);
  expect(simulator.stats().openRequests).toBe(0);
});
