import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, startApp } from "../../src/app/start-app.ts";
import { system } from "../../src/base/system.ts";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { createLog, LOG_LEVELS, type LogOptions } from "../../src/observe/log.ts";
import type { Timings } from "../../src/relay/timings.ts";

export interface TestGateway {
  url: string;
  adminUrl: string;
  key: string;
  adminSecret: string;
  folder: string;
  configFile: string;
  app: App;
  /** The receipt of an answer, as the API shows it. */
  receipt(response: Response): Promise<ReceiptData>;
  stop(): Promise<void>;
}

export interface ReceiptData {
  id: string;
  model: string;
  provider: string;
  upstream_model: string;
  lane: string;
  dialect: { client: string; upstream: string };
  stream: boolean;
  stop: { unified: string; raw: string } | null;
  offers: { provider: string; outcome: string; reason?: string }[];
  fields: { path: string; action: string; reason: string }[];
  usage: Record<string, number | null>;
  usage_source: string;
  price_rule: string;
  cost_usd: number;
  cost_nano_usd: number;
  first_content_ms: number | null;
  total_ms: number;
}

export interface TestGatewayOptions {
  /** Sections of trivium.yaml, as JSON, which is YAML too. */
  config?: Record<string, unknown>;
  timings?: Partial<Timings>;
  wallMs?: () => number;
  environment?: Record<string, string>;
  /** What the gateway says, and to whom; else TRIVIUM_TEST_LOG decides. */
  log?: Omit<LogOptions, "clock">;
}

export const TEST_KEY = `sk-trv-${"ConformanceSuiteKey".padEnd(43, "x")}`;
export const TEST_ADMIN_SECRET = "conformance-admin-secret-0123456789";

/** The whole gateway in this process, on free ports, with its data in a folder of its own. */
export async function startTestGateway({
  config = {},
  timings,
  wallMs,
  environment = {},
  log = { level: LOG_LEVELS.find((level) => level === process.env["TRIVIUM_TEST_LOG"]) ?? "silent" },
}: TestGatewayOptions = {}): Promise<TestGateway> {
  const folder = mkdtempSync(join(tmpdir(), "trivium-test-"));
  const configFile = join(folder, "trivium.yaml");
  const sections = {
    server: { host: "127.0.0.1", port: await freePort(), drain_seconds: 2 },
    admin: { host: "127.0.0.1", port: await freePort(), secret: TEST_ADMIN_SECRET },
    data_dir: join(folder, "data"),
    simulator: false,
    keys: [{ name: "tests", key: TEST_KEY }],
    ...config,
  };
  writeFileSync(configFile, JSON.stringify(sections, null, 1));
  const app = await startApp({
    configPath: configFile,
    cwd: folder,
    environment,
    log: createLog({ clock: system.clock, ...log }),
    ...(timings ? { timings } : {}),
    ...(wallMs ? { sources: { ...system, clock: { ...system.clock, wallMs } } } : {}),
  });
  return {
    url: app.url,
    adminUrl: app.adminUrl,
    key: TEST_KEY,
    adminSecret: TEST_ADMIN_SECRET,
    folder,
    configFile,
    app,
    receipt: async (response) => {
      const id = response.headers.get("x-trivium-receipt");
      const found = await fetch(`${app.url}/api/v1/generation?id=${id}`, {
        headers: { authorization: `Bearer ${TEST_KEY}` },
      });
      if (!found.ok) throw new Error(`no receipt ${id}: ${await found.text()}`);
      return ((await found.json()) as { data: ReceiptData }).data;
    },
    stop: async () => {
      await app.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function freePort(): Promise<number> {
  const probe = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port } = probe;
  await probe.stop(true);
  if (port === undefined) throw new Error("no free port");
  return port;
}

/** A provider for each dialect, at the host of it that a simulator plays. */
export function simulatedProviders(simulatorUrl: string): Record<`at-${DialectName}`, object> {
  const provider = (kind: string, path: string) => ({
    kind,
    base_url: simulatorUrl + path,
    api_key: "upstream-secret-key",
  });
  return {
    "at-chat": provider("openai-compatible", "/openai/v1"),
    "at-messages": provider("anthropic", "/anthropic"),
    "at-genai": provider("gemini", "/gemini"),
  };
}

/** A model of each dialect at one scripted upstream. */
export function scriptedModels(
  upstreamUrl: string,
  timeout_ms: { first_byte: number; idle: number; content?: number; total?: number } = { first_byte: 3000, idle: 1500 },
): Record<string, unknown> {
  const prices = {
    prompt: [{ value: 1, unit: "perMTokens", currency: "USD" }],
    completion: [{ value: 2, unit: "perMTokens", currency: "USD" }],
  };
  const model = (id: string, provider: string) => ({
    id,
    display_name: id,
    context_length: 200_000,
    max_output_tokens: 8192,
    input_modalities: ["text", "image"],
    output_modalities: ["text"],
    reasoning: true,
    pricings: prices,
    offers: [{ provider, model: "upstream-model" }],
  });
  return {
    providers: {
      "up-chat": {
        kind: "openai",
        base_url: `${upstreamUrl}/v1`,
        api_key: "upstream-secret-chat",
        timeout_ms,
      },
      "up-messages": {
        kind: "anthropic",
        base_url: upstreamUrl,
        api_key: "upstream-secret-messages",
        timeout_ms,
      },
      "up-genai": {
        kind: "gemini",
        base_url: upstreamUrl,
        api_key: "upstream-secret-genai",
        timeout_ms,
      },
    },
    models: [model("test/chat", "up-chat"), model("test/messages", "up-messages"), model("test/genai", "up-genai")],
  };
}
