import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { builtInModels } from "../../src/catalogue/built-in-models.ts";
import { buildCall } from "../../testing/build-call.ts";
import {
  bytesOf,
  DIALECT_OF,
  nameOf,
  present,
  recordedPasses,
  recordedTotals,
  recordings,
} from "../../testing/recordings.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

let upstream: ScriptedUpstream;
let gateway: TestGateway;

const KIND = { chat: "openai-compatible", messages: "anthropic", genai: "gemini" } as const;
const cases = recordings.map((recording, index) => ({
  recording,
  dialect: DIALECT_OF[recording.dialect] ?? "chat",
  id: `case-${index}`,
}));

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  upstream.play(async ({ path }, response) => {
    const { recording } = cases[Number(/case-(\d+)/.exec(path)?.[1])] ?? cases[0] ?? {};
    if (!recording) return;
    const type = recording.stream && recording.status === 200 ? "text/event-stream" : "application/json";
    response.writeHead(recording.status, { "content-type": type });
    const bytes = bytesOf(recording);
    for (let at = 0; at < bytes.length; at += 4096) {
      response.write(bytes.slice(at, at + 4096));
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  });
  gateway = await startTestGateway({
    config: {
      providers: Object.fromEntries(
        cases.map(({ id, dialect }) => [
          id,
          {
            kind: KIND[dialect],
            base_url: `${upstream.url}/${id}${dialect === "chat" ? "/v1" : ""}`,
            api_key: `upstream-key-${id}`,
          },
        ]),
      ),
      models: [
        ...cases.map(({ id }) => ({
          id: `recorded/${id}`,
          reasoning: true,
          offers: [{ provider: id, model: "recorded-model" }],
          pricings: {
            prompt: [{ value: 1, unit: "perMTokens", currency: "USD" }],
            completion: [{ value: 2, unit: "perMTokens", currency: "USD" }],
          },
        })),
        // Answers name the models that they were recorded from. Nobody offers those, except for the advisor, so that the price above holds.
        ...builtInModels.filter(({ id }) => id !== ADVISOR).map(({ id }) => ({ id, offers: [] })),
      ],
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

/** The model of the one recording with an advisor. */
const ADVISOR = "anthropic/claude-opus-4-8";

/** What the host's own tools cost: searches, and one container (decision 0083). */
function toolCost(dialect: string, { searches, tools }: Readonly<Record<string, unknown>>): number {
  const perSearch = { genai: 35_000_000, messages: 10_000_000 }[dialect] ?? 0;
  const ran = (tools ?? {}) as Record<string, number>;
  return Number(searches ?? 0) * perSearch + (ran["code_execution"] ? 50_000_000 : 0);
}

describe.skipIf(!present)("choices 6: the ledger's counters equal the transcript's usage", () => {
  // One recording was made without alt=sse, which the gateway never uses.
  const answered = cases.filter(
    ({ recording }) => recording.status === 200 && !(recording.stream && recording.response_file.endsWith(".json")),
  );
  test.each(answered.map((one) => [nameOf(one.recording), one] as const))(
    "%s",
    async (_name, { recording, dialect, id }) => {
      const [url, init] = buildCall(gateway.url, dialect, gateway.key, {
        model: `recorded/${id}`,
        stream: recording.stream,
        ...(dialect === "messages" ? { body: { max_tokens: 32_000 } } : {}),
      });
      const response = await fetch(url, init);
      await response.text();
      const receipt = await gateway.receipt(response);
      const failed = recording.features.includes("mid-stream-error");
      const count = (name: string) => receipt.usage[name] ?? 0;
      const totals = {
        input:
          count("input") +
          count("audio_input") +
          count("cache_read") +
          count("cache_write_5m") +
          count("cache_write_1h"),
        output: count("output") + count("audio_output") + count("reasoning"),
        cached: count("cache_read"),
      };
      const wanted = recordedTotals(recording);
      if (failed) expect(["partial", "measured"]).toContain(receipt.usage_source);
      else if (wanted) {
        expect(receipt.usage_source).toBe("measured");
        const passes = recordedPasses(recording);
        const sum = { ...wanted };
        let cost = wanted.input * 1000 + wanted.output * 2000;
        for (const { kind, input, output } of passes) {
          // The advisor is another model, which has a price in the catalogue: only its cost counts.
          const [prompt, completion] = kind === "advisor_message" ? [5_000, 25_000] : [1_000, 2_000];
          cost += input * prompt + output * completion;
          if (kind === "advisor_message") continue;
          sum.input += input;
          sum.output += output;
        }
        expect(totals).toEqual(sum);
        expect(receipt.cost_nano_usd).toBe(cost + toolCost(dialect, receipt.usage));
      } else expect(receipt.usage_source).toBe("estimated");
    },
  );
});

describe.skipIf(!present)("choices 4: every recorded error arrives in the caller's protocol", () => {
  const STATUS: Readonly<Record<number, number[]>> = {
    400: [400, 502],
    401: [502],
    403: [502],
    404: [404],
    429: [429, 502],
    529: [529],
  };
  const failed = cases.filter(({ recording }) => recording.status >= 400);
  test.each(failed.map((one) => [nameOf(one.recording), one] as const))(
    "%s",
    async (_name, { recording, dialect, id }) => {
      const response = await fetch(...buildCall(gateway.url, dialect, gateway.key, { model: `recorded/${id}` }));
      expect(STATUS[recording.status]).toContain(response.status);
      const body = (await response.json()) as { error: { message: string } };
      expect(body.error.message.length).toBeGreaterThan(10);
      expect(JSON.stringify(body)).not.toContain("upstream-key");
      if (response.status === 429) expect(Number(response.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    },
  );
});
