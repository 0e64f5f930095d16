import { describe, expect, test } from "bun:test";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { SCRIPTED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";

const CONFIG = modelsOfEveryDialect(UPSTREAM_URL, { first_byte: 60_000, idle: 60_000 });

const PATHS = [
  "/v1/chat/completions",
  "/v1/messages",
  "/v1/responses",
  "/v1beta/models/chat:generateContent",
  "/v1/images/generations",
  "/v1/images/edits",
  "/v1/embeddings",
  "/v1/rerank",
  "/v1/audio/speech",
  "/v1/audio/transcriptions",
  "/v1/moderations",
  "/v1/completions",
  "/v1/publishers/test/models/chat:predictLongRunning",
  "/api/v1/keys",
  "/v1/no-such-endpoint",
];

describe("sdks 4: errors that a retry cannot fix say so", () => {
  test.each(PATHS)("POST %s: a wrong key, a wrong type, a wrong body", async (path) => {
    const harness = await Harness.start({ config: CONFIG });
    for (const [body, headers] of [
      ["{}", { authorization: "Bearer sk-wrong", "content-type": "application/json" }],
      ["{}", { "content-type": "text/plain" }],
      ["{", { "content-type": "application/json" }],
      ['{"model":"test/none"}', { "content-type": "application/json" }],
    ] as const) {
      const sent = harness.sendRaw(path, body, { authorization: `Bearer ${TEST_KEY}`, ...headers });
      const { status, headers: answered } = await harness.clock.until(sent.answer);
      expect([status, status >= 400 && status < 500]).toEqual([status, true]);
      expect([path, status, answered.get("x-should-retry")]).toEqual([path, status, "false"]);
    }
  });

  test.each(SCRIPTED_DIALECTS)(
    "%s: an upstream's own refusal says so, its failures and limits do not",
    async (dialect) => {
      const harness = await Harness.start({ config: CONFIG });
      const { upstream } = harness;
      for (const [status, expected] of [
        [400, "false"],
        [404, "false"],
        [401, "false"],
        [429, null],
        [500, null],
        [503, null],
      ] as const) {
        upstream.play(upstream.json({ error: { message: "no" } }, status));
        const { headers } = await harness.call(dialect);
        expect([status, headers.get("x-should-retry")]).toEqual([status, expected]);
      }
    },
  );
});
