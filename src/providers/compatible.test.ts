import { describe, expect, test } from "bun:test";
import { Secret } from "../base/secret.ts";
import { system } from "../base/system.ts";
import { fitToolId } from "../canon/tool-id.ts";
import { builtInModels } from "../catalogue/built-in-models.ts";
import { publisherOf } from "../catalogue/model.ts";
import type { ProviderSettings } from "../config/config.ts";
import { COMPATIBLE_PROVIDERS } from "./compatible.ts";
import { createProvider } from "./index.ts";
import { Provider } from "./provider.ts";

function providerOf(kind: string, settings: Partial<ProviderSettings> = {}): Provider {
  const declaration = COMPATIBLE_PROVIDERS.find((one) => one.kind === kind);
  if (declaration === undefined) throw new Error(`no kind ${kind}`);
  return new Provider(declaration, { name: "host", kind, apiKey: new Secret("host-secret"), ...settings }, system);
}

const endpointOf = async (provider: Provider, dialect: "chat" | "messages") =>
  provider.endpoint({ dialect, verb: "generate", model: "m", stream: true, options: undefined });

describe("providers 1.7: the compatible hosts", () => {
  test("every kind is there once, and its publishers are publishers of the catalogue", () => {
    const kinds = COMPATIBLE_PROVIDERS.map(({ kind }) => kind);
    expect(new Set(kinds).size).toBe(kinds.length);
    const publishers = new Set(builtInModels.map(({ id }) => publisherOf(id)));
    for (const { kind, publishers: own } of COMPATIBLE_PROVIDERS) {
      for (const publisher of own)
        expect({ kind, publisher, known: publishers.has(publisher) }).toMatchObject({ known: true });
    }
  });

  test("choices 7: a host is enabled by its usual variable, and a local one only by configuration", () => {
    const keyless = COMPATIBLE_PROVIDERS.filter(({ variables }) => variables === undefined);
    expect(keyless.map(({ kind }) => kind)).toEqual(["ollama", "vllm", "llama.cpp"]);
    for (const { kind, fields, baseUrl } of keyless) {
      expect(fields.required).toEqual([]);
      expect(baseUrl({ name: kind, kind })).toStartWith("http://127.0.0.1:");
    }
  });

  test("a host with a messages endpoint is reached there too, at the vendor's own URL", async () => {
    const kinds = COMPATIBLE_PROVIDERS.filter(({ dialects }) => dialects.messages).map(({ kind }) => kind);
    expect(kinds).toEqual(["deepseek", "moonshot", "z-ai", "qwen", "minimax"]);
    const provider = providerOf("z-ai");
    expect(provider.dialects).toEqual(["chat", "messages"]);
    expect(await endpointOf(provider, "chat")).toMatchObject({
      url: "https://api.z.ai/api/paas/v4/chat/completions",
      headers: { authorization: "Bearer host-secret" },
    });
    expect(await endpointOf(provider, "messages")).toMatchObject({
      url: "https://api.z.ai/api/anthropic/v1/messages",
      headers: { authorization: "Bearer host-secret", "anthropic-version": "2023-06-01" },
    });
  });

  test("R32: hosts that support Responses are reached there as well as at chat; what stands in for them only if configured", async () => {
    const spoken = COMPATIBLE_PROVIDERS.filter(({ dialects }) => dialects["responses"]).map(({ kind }) => kind);
    expect(spoken).toEqual(["deepseek", "x-ai", "openrouter", "ollama", "vllm"]);
    const call = { dialect: "responses", verb: "generate", model: "m", stream: true, options: undefined } as const;
    const urls = spoken.map(async (kind) => (await providerOf(kind).endpoint(call)).url);
    expect(await Promise.all(urls)).toEqual([
      "https://api.deepseek.com/responses",
      "https://api.x.ai/v1/responses",
      "https://openrouter.ai/api/v1/responses",
      "http://127.0.0.1:11434/v1/responses",
      "http://127.0.0.1:8000/v1/responses",
    ]);
    expect(providerOf("vllm", { baseUrl: "http://gpu:8000/v1", home: true }).dialects).toEqual(["chat", "responses"]);
    const elsewhere = providerOf("vllm", { baseUrl: "http://gpu:8000/v1" });
    expect(elsewhere.dialects).toEqual(["chat"]);
    expect(elsewhere.dialectsFor("m", "responses")).toEqual(["responses"]);
    const named = providerOf("vllm", { baseUrl: "http://gpu:8000/v1", dialects: ["responses", "chat"] });
    expect(named.dialectsFor("m")).toEqual(["responses", "chat"]);
    const narrowed = providerOf("vllm", { baseUrl: "http://gpu:8000/v1", dialects: ["chat"] });
    expect(narrowed.dialectsFor("m", "responses")).toEqual([]);
  });

  test("S07: a configured base_url is the only destination, so messages is not used there", async () => {
    const provider = providerOf("z-ai", { baseUrl: "http://127.0.0.1:9001/v4", dialects: ["messages", "chat"] });
    expect(provider.dialects).toEqual(["chat"]);
    expect(await endpointOf(provider, "chat")).toMatchObject({ url: "http://127.0.0.1:9001/v4/chat/completions" });
  });

  test("hosts of the operator get the trace context, and each has its name in telemetry", () => {
    expect(COMPATIBLE_PROVIDERS.filter(({ tracesCalls }) => tracesCalls).map(({ kind }) => kind)).toEqual([
      "ollama",
      "vllm",
      "llama.cpp",
    ]);
    expect(providerOf("vllm").tracesCalls).toBe(true);
    expect(["mistral", "moonshot", "z-ai"].map((kind) => providerOf(kind).systemName)).toEqual([
      "mistral_ai",
      "moonshot_ai",
      "z_ai",
    ]);
  });

  test("dialects in the configuration restrict which are used", () => {
    expect(providerOf("minimax", { dialects: ["messages"] }).dialects).toEqual(["messages"]);
  });

  test("H03: ids of tool calls fit the host that takes nine letters and digits, and differ where they differed", () => {
    const { toolId } = providerOf("mistral").quirksOf("chat");
    const ids = ["call_1", "call_2", "toolu_01A"].map((id) => fitToolId(id, toolId));
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(new Set(ids).size).toBe(3);
    expect(fitToolId("D681PevKs", toolId)).toBe("D681PevKs");
  });

  test("H03: ids of tool calls have forty characters at most at hosts that refuse longer ones", () => {
    for (const kind of ["openai", "azure-openai"]) {
      const settings = { name: "host", kind, baseUrl: "http://127.0.0.1:9001", apiKey: new Secret("host-secret") };
      const { toolId } = createProvider(settings, system).quirksOf("chat");
      expect(fitToolId("x".repeat(41), toolId)).toMatch(/^call_[a-z0-9]{13}$/);
      expect(fitToolId("toolu_01A b", toolId)).toBe("toolu_01A b");
    }
  });
});

test("H18: an answer that is not streamed may begin as late as content, unless configured", () => {
  const { timeoutMs, wholeTimeoutMs } = providerOf("mistral");
  expect([timeoutMs.firstByte, wholeTimeoutMs.firstByte]).toEqual([60_000, 600_000]);
  const longer = providerOf("mistral", { timeoutMs: { content: 900_000 } });
  expect([longer.timeoutMs.firstByte, longer.wholeTimeoutMs.firstByte]).toEqual([60_000, 900_000]);
  const given = providerOf("mistral", { timeoutMs: { firstByte: 5_000 } });
  expect([given.timeoutMs.firstByte, given.wholeTimeoutMs.firstByte]).toEqual([5_000, 5_000]);
});
