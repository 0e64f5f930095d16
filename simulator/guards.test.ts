import { afterAll, describe, expect, test } from "bun:test";
import { startSimulator } from "./simulator.ts";

const open = await startSimulator({ tokenDelayMs: 0 });
const closed = await startSimulator({ tokenDelayMs: 0, apiKey: "the-key-of-the-process", closed: true });
afterAll(() => Promise.all([open.stop(), closed.stop()]));

const chat = (
  url: string,
  headers: Record<string, string>,
  messages: object[] = [{ role: "user", content: "hello" }],
) =>
  fetch(`${url}/openai/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: "Bearer any", "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: "standard", messages }),
  });

describe("S19: the simulator's own port", () => {
  test("pages cannot call it, under a rebound name or their own", async () => {
    expect((await chat(open.url, {})).status).toBe(200);
    expect((await chat(open.url, { host: "evil.example" })).status).toBe(403);
    expect((await chat(open.url, { origin: "https://evil.example" })).status).toBe(403);
    expect((await chat(open.url, { origin: "null" })).status).toBe(403);
  });

  test("a closed simulator only accepts its own key, at every host and with every kind of signature", async () => {
    expect((await chat(closed.url, { authorization: "Bearer the-key-of-the-process" })).status).toBe(200);
    expect((await chat(closed.url, {})).status).toBe(401);
    const grant = new URLSearchParams({
      grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
      assertion: "a.b.c",
    });
    expect((await fetch(`${closed.url}/vertex/token`, { method: "POST", body: grant })).status).toBe(401);
    for (const path of ["/bedrock/model/standard/converse", "/hosts/kling/v1/images/generations", "/", "/nowhere"]) {
      expect((await fetch(closed.url + path, { method: "POST", body: "{}" })).status).toBe(401);
    }
  });
});

describe("S19: many tiny messages", () => {
  /** In milliseconds of processor time, which other processes hardly change: client and simulator are both in this one. */
  const cost = async (count: number, message: (index: number) => object): Promise<number> => {
    const messages = Array.from({ length: count }, (_, index) => message(index));
    const before = process.cpuUsage();
    await (await chat(open.url, {}, messages)).text();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };

  test.each([
    ["of one speaker", () => ({ role: "user", content: "a" })],
    ["in turn", (index: number) => ({ role: index % 2 ? "assistant" : "user", content: "a" })],
  ])("%s cost their number, not its square", async (_, message) => {
    await cost(1_000, message);
    // The square would cost sixty-four times as much.
    const few = Math.max(20, await cost(5_000, message));
    expect(await cost(40_000, message)).toBeLessThan(few * 32);
  });
});
