import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI, { toFile } from "openai";
import { eventually } from "../../testing/eventually.ts";
import { type BatchVendor, type LineAnswer, PlayedBatchHost } from "../../testing/hosts/batch-host.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { TEST_ADMIN_SECRET, type TestGateway } from "./test-gateway.ts";

const DIALECTS = { openai: "chat", anthropic: "messages", gemini: "genai" } as const;

/** What every line costs at the list price: 1000 tokens for 1 USD and 500 for 2 USD per million. */
export const LIST_NANO_USD = 2_000_000;

const ERRORS: Readonly<Record<BatchVendor, object>> = {
  openai: { error: { message: "This line is bad.", type: "invalid_request_error" } },
  anthropic: { type: "error", error: { type: "invalid_request_error", message: "This line is bad." } },
  gemini: { error: { code: 3, message: "This line is bad.", status: "INVALID_ARGUMENT" } },
};

function embeddingsOf(input: unknown): object {
  const inputs = Array.isArray(input) ? input : [input];
  const embedding = Buffer.from(new Float32Array([0.5, 0.25]).buffer).toString("base64");
  return {
    object: "list",
    model: "upstream-model",
    data: inputs.map((_one, index) => ({ object: "embedding", index, embedding })),
    usage: { prompt_tokens: 1000, total_tokens: 1000 },
  };
}

/** Answers with the word `say-…` of the request. `say-bad` fails, and `say-odd` has a counter that nobody knows. */
function answer(body: Record<string, unknown>, vendor: BatchVendor, endpoint: string): LineAnswer {
  const word = /say-[a-z0-9]+/.exec(JSON.stringify(body))?.[0] ?? "nothing";
  if (word === "say-bad") return { status: 400, body: ERRORS[vendor] };
  if (endpoint.endsWith("/embeddings")) return { body: embeddingsOf(body["input"]) };
  const dialect = endpoint.endsWith("/responses") ? "responses" : DIALECTS[vendor];
  const usage = plainUsage(dialect, 1000, 500);
  const more = word === "say-odd" ? { hologram_tokens: 7 } : {};
  return { body: plainAnswer(dialect, { text: `heard ${word}`, usage: { ...usage, ...more } }) };
}

export const startBatchHost = (): Promise<PlayedBatchHost> => new PlayedBatchHost(answer).start();

/** A model at each vendor's batch API, at one host, and one whose host has no known batch price. */
export function nativeModels(url: string): { providers: Record<string, object>; models: object[] } {
  const scripted = scriptedModels(url) as { providers: Record<string, object>; models: Record<string, unknown>[] };
  const providers = Object.fromEntries(
    Object.entries(scripted.providers).map(([name, provider]) => [name, { ...provider, batch: true }]),
  );
  const unpriced = { kind: "openai-compatible", base_url: `${url}/v1`, api_key: "upstream-secret", batch: true };
  const [chat] = scripted.models;
  const offers = [{ provider: "up-unpriced", model: "upstream-model" }];
  return {
    providers: { ...providers, "up-unpriced": unpriced },
    models: [
      ...scripted.models,
      { ...chat, id: "test/unpriced", offers },
      { ...chat, id: "test/embed", output_modalities: ["embeddings"], reasoning: false },
    ],
  };
}

export interface BatchOutcome {
  state: string;
  /** The result of each line, in order: the client's name, whether it succeeded, and the whole of it. */
  lines: { id: string; ok: boolean; text: string }[];
  /** The batch as it was shown last. */
  shown: string;
}

export type Request = { id: string; model: string; content: string };

/** The clients of the three forms. Each creates a batch, waits for its end and reads its results. */
export class BatchClients {
  readonly openai: OpenAI;
  readonly anthropic: Anthropic;
  readonly genai: GoogleGenAI;

  constructor({ url }: Pick<TestGateway, "url">, apiKey: string) {
    this.openai = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
    this.anthropic = new Anthropic({ baseURL: url, apiKey, maxRetries: 0 });
    this.genai = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } });
  }

  async run(form: "chat" | "messages" | "genai", requests: readonly Request[]): Promise<BatchOutcome> {
    return this.wait(form, await this.create(form, requests));
  }

  async create(form: "chat" | "messages" | "genai" | "responses", requests: readonly Request[]): Promise<string> {
    if (form === "messages") {
      const { id } = await this.anthropic.messages.batches.create({
        requests: requests.map(({ id: custom_id, model, content }) => ({
          custom_id,
          params: { model, max_tokens: 600, messages: [{ role: "user", content }] },
        })),
      });
      return id;
    }
    if (form === "genai") {
      const { name } = await this.genai.batches.create({
        model: requests[0]?.model ?? "",
        src: requests.map(({ id, model, content }) => ({
          model,
          contents: [{ role: "user", parts: [{ text: content }] }],
          config: { maxOutputTokens: 600 },
          metadata: { key: id },
        })),
      });
      return name ?? "";
    }
    const endpoint = form === "chat" ? "/v1/chat/completions" : "/v1/responses";
    const lines = requests.map(({ id, model, content }) => {
      const body =
        form === "chat"
          ? { model, max_completion_tokens: 600, messages: [{ role: "user", content }] }
          : { model, max_output_tokens: 600, input: content };
      return JSON.stringify({ custom_id: id, method: "POST", url: endpoint, body });
    });
    const file = await toFile(Buffer.from(lines.join("\n")), "in.jsonl");
    const { id: input_file_id } = await this.openai.files.create({ file, purpose: "batch" });
    return (await this.openai.batches.create({ input_file_id, endpoint, completion_window: "24h" })).id;
  }

  async wait(form: "chat" | "messages" | "genai", id: string): Promise<BatchOutcome> {
    if (form === "messages") return this.#waitMessages(id);
    if (form === "genai") return this.#waitGenai(id);
    const batch = await eventually("the end of the batch", async () => {
      const shown = await this.openai.batches.retrieve(id);
      return ["completed", "failed", "expired", "cancelled"].includes(shown.status) ? shown : undefined;
    });
    const files = [batch.output_file_id, batch.error_file_id].filter((file) => file !== undefined);
    const texts = await Promise.all(files.map(async (file) => (await this.openai.files.content(file)).text()));
    const lines = texts.flatMap((text) => text.trim().split("\n"));
    return {
      state: batch.status,
      shown: JSON.stringify(batch),
      lines: lines.map((text) => {
        const { custom_id, response } = JSON.parse(text) as { custom_id: string; response?: { status_code: number } };
        return { id: custom_id, ok: response?.status_code === 200, text };
      }),
    };
  }

  async #waitMessages(id: string): Promise<BatchOutcome> {
    const batch = await eventually("the end of the batch", async () => {
      const shown = await this.anthropic.messages.batches.retrieve(id);
      return shown.processing_status === "ended" ? shown : undefined;
    });
    const lines: BatchOutcome["lines"] = [];
    if (batch.results_url !== null) {
      for await (const line of await this.anthropic.messages.batches.results(id))
        lines.push({ id: line.custom_id, ok: line.result.type === "succeeded", text: JSON.stringify(line) });
    }
    return { state: "ended", lines, shown: JSON.stringify(batch) };
  }

  async #waitGenai(name: string): Promise<BatchOutcome> {
    const job = await eventually("the end of the batch", async () => {
      const shown = await this.genai.batches.get({ name });
      return ["JOB_STATE_PENDING", "JOB_STATE_RUNNING"].includes(shown.state ?? "") ? undefined : shown;
    });
    const responses = job.dest?.inlinedResponses ?? [];
    return {
      state: job.state ?? "",
      shown: JSON.stringify(job),
      lines: responses.map((line) => ({
        id: line.metadata?.["key"] ?? "",
        ok: line.response !== undefined,
        text: JSON.stringify(line),
      })),
    };
  }
}

export interface ReceiptRow {
  id: string;
  model: string;
  outcome: string;
  cost_nano_usd: number;
  price_rule: string;
  unpriced?: string[];
  request_id?: string;
}

/** The newest receipts first. */
export async function receiptRows(gateway: Pick<TestGateway, "adminUrl">): Promise<ReceiptRow[]> {
  const headers = { authorization: `Bearer ${TEST_ADMIN_SECRET}` };
  const answered = await fetch(`${gateway.adminUrl}/api/receipts?limit=500`, { headers });
  return ((await answered.json()) as { data: ReceiptRow[] }).data;
}
