import { describe, expect, test } from "bun:test";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { SCRIPTED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { callGateway } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sendJson } from "../support/scripted-upstream.ts";

/** No test here is about time. The upstream runs in this process, which a large request keeps busy. */
const PATIENT = { first_byte: 200_000, idle: 200_000 };
const { upstream, gateway } = await scriptedHarness((url) => ({ config: modelsOfEveryDialect(url, PATIENT) }));

/** Every JavaScript object has members of these names. */
const WORDS = ["constructor", "__proto__"];

/** A complete response with that stop reason. */
const answerOf = (host: DialectName, stop: string): object => {
  const usage = plainUsage(host, 1, 1);
  // A Responses response is complete, or says why not.
  return host === "responses"
    ? { ...plainAnswer(host, { text: "hi", usage, stop: "incomplete" }), incomplete_details: { reason: stop } }
    : plainAnswer(host, { text: "hi", usage, stop });
};

const pairs = SCRIPTED_DIALECTS.flatMap((client) => SCRIPTED_DIALECTS.map((host) => [client, host] as const));

describe("H16, H21: an unknown stop reason is reported and does not stop the ledger", () => {
  test.each(pairs)("a client of %s, a host of %s", async (client, host) => {
    for (const word of WORDS) {
      upstream.play((_request, response) => void sendJson(response, answerOf(host, word)));
      const response = await callGateway(gateway.url, client, gateway.key, { model: `test/${host}` });
      expect(response.status).toBe(200);
      await response.json();
      expect(await gateway.receipt(response)).toMatchObject({ stop: { unified: "other", raw: word } });
    }
  });
});

test.each(WORDS)("H16: an error with the code %s is treated by its status", async (word) => {
  upstream.play((_request, response) => void sendJson(response, { error: { message: "no", code: word } }, 400));
  const response = await callGateway(gateway.url, "chat", gateway.key, { model: "test/chat" });
  expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(`"code":"${word}"`)]);
});

test.each(["messages", "genai"] as const)(
  "H09: parts of unknown types are dropped for a host of %s, and noted",
  async (host) => {
    const content: object[] = [
      { type: "text", text: "hello" },
      { type: "__proto__" },
      { type: "constructor", constructor: { x: 1 } },
    ];
    upstream.play(
      (_request, response) => void sendJson(response, answerOf(host, host === "genai" ? "STOP" : "end_turn")),
    );
    const body = { messages: [{ role: "user", content }] };
    const response = await callGateway(gateway.url, "chat", gateway.key, {
      door: "dropin",
      model: `test/${host}`,
      body,
    });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-trivium-dropped")).toContain("messages[0].content[2]");
    const { fields } = await gateway.receipt(response);
    expect(fields.map(({ path }) => path)).toEqual(["messages[0].content[1]", "messages[0].content[2]"]);
  },
);

test("H09, H20, H21: forty thousand unknown fields delay no other call, and the receipt has their number", async () => {
  upstream.play((_request, response) => void sendJson(response, answerOf("messages", "end_turn")));
  const body = Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`f${index}`, 1]));
  const options = { door: "dropin", model: "test/messages", body } as const;
  const before = process.cpuUsage();
  const response = await callGateway(gateway.url, "chat", gateway.key, options);
  expect(response.status).toBe(200);
  // Client, gateway and upstream together. Fields that each cost as much as there are fields would take minutes.
  const { user, system } = process.cpuUsage(before);
  expect(user + system).toBeLessThan(6_000_000);
  const { fields } = await gateway.receipt(response);
  expect(fields.length).toBeLessThan(500);
  expect(fields.at(-1)).toMatchObject({ path: "*", reason: expect.stringMatching(/^\d+ more /) });
  const strict = { ...options, headers: { "x-trivium-strict": "true" } };
  const refused = await callGateway(gateway.url, "chat", gateway.key, strict);
  expect([refused.status, (await refused.text()).length < 200_000]).toEqual([400, true]);
});
