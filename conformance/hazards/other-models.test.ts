import { describe, expect, test } from "bun:test";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { SCRIPTED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { callGateway, errorOf } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sendJson } from "../support/scripted-upstream.ts";

const { upstream, gateway } = await scriptedHarness();
const DEAR = "a-model-of-another-price";
const answerOf = (dialect: DialectName) => plainAnswer(dialect, { text: "hi", usage: plainUsage(dialect, 1, 1) });

/** Hosts that are gateways themselves, or that choose among their own models, read these. */
const FIELDS: readonly (readonly [DialectName, string, Record<string, unknown>])[] = [
  ...SCRIPTED_DIALECTS.flatMap((client) => [
    [client, "models", { models: [DEAR] }] as const,
    // A messages request may name models that the gateway checks and calls itself (decision 0101).
    ...(client === "messages" ? [] : [[client, "fallbacks", { fallbacks: [{ model: DEAR }] }] as const]),
  ]),
  ...["routingConfig", "modelSelectionConfig"].map((field) => {
    const choice = { manualMode: { modelName: DEAR }, modelName: DEAR };
    const generationConfig = { temperature: 1, [field]: field === "routingConfig" ? { manualMode: choice } : choice };
    return ["genai", `generationConfig.${field}`, { generationConfig }] as const;
  }),
];

describe("S07: no field of a request can name another model than the one that was checked and priced", () => {
  for (const [client, path, body] of FIELDS) {
    for (const host of SCRIPTED_DIALECTS) {
      test(`${client} client of a ${host} host: ${path} is not forwarded, and the receipt says so`, async () => {
        upstream.play((_request, response) => void sendJson(response, answerOf(host)));
        for (const door of ["contract", "dropin"] as const) {
          const options = { model: `test/${host}`, door, body };
          const response = await callGateway(gateway.url, client, gateway.key, options);
          expect(response.status).toBe(200);
          await response.text();
          const { fields } = await gateway.receipt(response);
          expect(fields).toContainEqual(expect.objectContaining({ path, action: "dropped" }));
          const strict = { ...options, headers: { "x-trivium-strict": "true" } };
          expect((await errorOf(await callGateway(gateway.url, client, gateway.key, strict))).message).toContain(path);
        }
        for (const { body: sent } of upstream.seen) expect(sent).not.toContain(DEAR);
      });
    }
  }

  test.each(["contract", "dropin"] as const)("decision 0101: a fallback must be a known model (%s)", async (door) => {
    const body = { fallbacks: [{ model: DEAR }] };
    const { status, message } = await errorOf(await callGateway(gateway.url, "messages", gateway.key, { door, body }));
    expect([status, message]).toEqual([400, expect.stringContaining("fallbacks[0].model")]);
  });

  test("S15: nor in another case", async () => {
    for (const dialect of SCRIPTED_DIALECTS) {
      const response = await callGateway(gateway.url, dialect, gateway.key, { body: { Models: [DEAR] } });
      expect((await errorOf(response)).message).toContain("Models must be written models");
    }
  });

  test("messages: nor can a tool of the host call another model, except one that is checked", async () => {
    const tools = [{ type: "hologram_20260301", name: "hologram", model: DEAR }];
    const response = await callGateway(gateway.url, "messages", gateway.key, { door: "dropin", body: { tools } });
    const { status, message } = await errorOf(response);
    expect([status, message]).toEqual([
      400,
      "tools[0].model is not supported: tools must not call other models. Remove it.",
    ]);
  });
});
