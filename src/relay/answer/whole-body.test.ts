import { expect, test } from "bun:test";
import { wholeBody } from "./whole-body.ts";

const LIMIT = 15 * 1024;

test("a streamed body can be read where the gateway answers itself", async () => {
  const text = "🙂 é\n".repeat(4_000);
  expect(await new Response(wholeBody(text)).text()).toBe(text);
});

test.each([
  ["just under the limit", "x".repeat(LIMIT - 1), false],
  ["at the limit", "x".repeat(LIMIT), true],
  ["of few characters but many bytes", "文".repeat(LIMIT / 3), true],
  ["of characters beyond the basic plane", "🙂".repeat(20_000), true],
  ["with a lone surrogate", `${"x".repeat(LIMIT)}\ud83d`, true],
  ["as long as media", "x".repeat(300_000), false],
])("a body %s arrives unchanged, and only a long one is streamed", async (_, text, isStreamed) => {
  expect(typeof wholeBody(text)).toBe(isStreamed ? "object" : "string");
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async () => {
      await Bun.sleep(0);
      return new Response(wholeBody(text), { headers: { "x-sent": "yes" } });
    },
  });
  try {
    const response = await fetch(server.url);
    expect(response.headers.get("x-sent")).toBe("yes");
    expect(response.headers.has("content-length")).toBe(!isStreamed);
    expect(await response.text()).toBe(text.toWellFormed());
  } finally {
    await server.stop(true);
  }
});
