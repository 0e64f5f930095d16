import OpenAI from "openai";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import type { ReceiptData } from "../../testing/receipt-data.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

/** A key whose calls are refused if any field would be dropped (H09). */
export const STRICT_KEY = `sk-trv-${"ConformanceStrictKey".padEnd(43, "x")}`;
/** One with budget for some hundred characters. */
export const POOR_KEY = `sk-trv-${"ConformancePoorKey".padEnd(43, "x")}`;

export interface SpeechHarness {
  gateway: TestGateway;
  simulator: Simulator;
  client: OpenAI;
  contract: OpenAI;
  post(path: string, body: object): Promise<Response>;
  /** The receipt of the last response. */
  receipt(): Promise<ReceiptData>;
  stop(): Promise<void>;
}

const own = (id: string, outputs: string[], ...offers: { provider: string; model: string }[]) => ({
  id,
  output_modalities: outputs,
  pricings: { prompt: [{ value: 1, unit: "perMTokens", currency: "USD" }] },
  offers,
});

/** One gateway with hosts that speak, transcribe, moderate and complete, each simulated. */
export async function startSpeechHarness(): Promise<SpeechHarness> {
  const simulator = await startSimulator({ tokenDelayMs: 0 });
  const at = (path: string) => ({ base_url: simulator.url + path, api_key: "upstream-secret-of-the-suite" });
  const gateway = await startTestGateway({
    config: {
      providers: {
        openai: { kind: "openai", ...at("/openai/v1") },
        locked: {
          kind: "openai-compatible",
          base_url: `${simulator.url}/openai/v1`,
          api_key: "a-wrong-key-of-the-suite",
        },
        gemini: { kind: "gemini", ...at("/gemini") },
        azure: { kind: "azure-openai", ...at("/hosts/azure-openai") },
        groq: { kind: "groq", ...at("/hosts/groq/openai/v1") },
        mistral: { kind: "mistral", ...at("/hosts/mistral/v1") },
        sim: { kind: "openai-compatible", ...at("/openai/v1") },
      },
      models: [
        own("own/azure-voice", ["audio"], { provider: "azure", model: "tts-1" }),
        own("own/groq-ear", ["transcription"], { provider: "groq", model: "whisper-large-v3" }),
        own("own/mistral-ear", ["transcription"], { provider: "mistral", model: "whisper-1" }),
        own(
          "own/two-voices",
          ["audio"],
          { provider: "locked", model: "tts-1" },
          { provider: "openai", model: "tts-1" },
        ),
        own("own/writer", ["text"], { provider: "sim", model: "standard" }),
        own("own/cut-writer", ["text"], { provider: "sim", model: "cut-mid-stream" }),
        own(
          "own/two-writers",
          ["text"],
          { provider: "sim", model: "fail-503" },
          { provider: "sim", model: "standard" },
        ),
        own("own/deaf", ["transcription"], { provider: "openai", model: "gpt-5" }),
      ],
      keys: [
        { name: "tests", key: TEST_KEY },
        { name: "strict", key: STRICT_KEY, strict: true },
        { name: "poor", key: POOR_KEY, limits: { budget_usd_total: 0.0002 } },
      ],
    },
  });
  let last: Response | undefined;
  const clientAt = (path: string) =>
    new OpenAI({
      apiKey: TEST_KEY,
      baseURL: gateway.url + path,
      maxRetries: 0,
      fetch: async (input, init) => {
        last = await fetch(input as string, init as RequestInit);
        return last;
      },
    });
  return {
    gateway,
    simulator,
    client: clientAt("/v1"),
    contract: clientAt("/api/v1"),
    post: (path, body) =>
      fetch(gateway.url + path, {
        method: "POST",
        headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    receipt: () => gateway.receipt(last ?? new Response()),
    stop: async () => {
      await gateway.stop();
      await simulator.stop();
    },
  };
}
