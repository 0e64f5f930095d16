import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, startApp } from "../../src/app/start-app.ts";
import { system } from "../../src/base/system.ts";
import { withoutAbsent } from "../../src/base/without-absent.ts";
import { LIVE_DIALECT_NAMES } from "../../src/canon/dialect-name.ts";
import { builtInModels } from "../../src/catalogue/built-in-models.ts";
import { publisherOf } from "../../src/catalogue/model.ts";
import { createLog, LOG_LEVELS, type LogOptions } from "../../src/observe/log.ts";
import { PROVIDER_KINDS } from "../../src/providers/index.ts";
import type { Registry } from "../../src/providers/registry.ts";
import type { Timings } from "../../src/relay/settle/timings.ts";
import { shortPause } from "../../testing/eventually.ts";
import type { ReceiptData } from "../../testing/receipt-data.ts";
import type { ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { writeSqliteTables } from "../../testing/sqlite-tables.ts";
import { TEST_KEY } from "../../testing/test-key.ts";

export interface TestGateway {
  url: string;
  adminUrl: string;
  key: string;
  adminSecret: string;
  folder: string;
  configFile: string;
  app: App;
  /** The receipt of a response, as the API shows it. */
  receipt(response: Response): Promise<ReceiptData>;
  stop(): Promise<void>;
}

export interface TestGatewayOptions {
  /** Sections of trivium.yaml, as JSON, which is YAML too. */
  config?: Record<string, unknown>;
  timings?: Partial<Timings>;
  wallMs?: () => number;
  /** The clock that never steps. */
  nowMs?: () => number;
  environment?: Record<string, string>;
  /** More than the program's own dialects and kinds of providers. */
  registry?: Registry;
  /** The log's level and destination; otherwise TRIVIUM_TEST_LOG decides. */
  log?: Omit<LogOptions, "clock">;
  /** An existing folder for its configuration and data; otherwise it has one of its own until it stops. */
  folder?: string;
}

export const TEST_ADMIN_SECRET = "conformance-admin-secret-0123456789";

/** The whole gateway in this process, on ports that the system chooses, with its data in a separate folder. */
export async function startTestGateway({
  config = {},
  timings,
  wallMs = system.clock.wallMs,
  nowMs = system.clock.nowMs,
  environment = {},
  registry,
  log = { level: LOG_LEVELS.find((level) => level === process.env["TRIVIUM_TEST_LOG"]) ?? "silent" },
  folder: given,
}: TestGatewayOptions = {}): Promise<TestGateway> {
  const folder = given ?? mkdtempSync(join(tmpdir(), "trivium-test-"));
  const configFile = join(folder, "trivium.yaml");
  const start = async () => {
    const { server, admin, ...others } = withLastingModels(config);
    const sections = {
      server: { host: "127.0.0.1", port: 0, ...((server as object) ?? { drain_seconds: 2 }) },
      admin: { host: "127.0.0.1", port: 0, ...((admin as object) ?? { secret: TEST_ADMIN_SECRET }) },
      data_dir: join(folder, "data"),
      simulator: false,
      keys: [{ name: "tests", key: TEST_KEY }],
      ...withoutAbsent({ files: shared }),
      ...others,
    };
    writeFileSync(configFile, JSON.stringify(sections, null, 1));
    return startApp({
      configPath: configFile,
      cwd: folder,
      environment,
      log: createLog({ clock: system.clock, ...log }),
      ...(timings ? { timings } : {}),
      ...(registry ? { registry } : {}),
      sources: { ...system, clock: { ...system.clock, wallMs, nowMs } },
    });
  };
  // Gateways that share a storage share their files too.
  const shared =
    config["redis"] === undefined ? undefined : `${tmpdir()}/trivium-files-${Bun.hash(String(config["storage"]))}`;
  if (!("storage" in config || "data_dir" in config)) await writeSqliteTables(join(folder, "data", "trivium.db"));
  const app = await start();
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
      if (given === undefined) rmSync(folder, { recursive: true, force: true });
      if (shared !== undefined) rmSync(shared, { recursive: true, force: true });
    },
  };
}

/**
 * The hosts of tests go on serving what vendors retire, so that no test depends on the day on which it runs: offers of one's own do not
 * end with the vendor's.
 */
function withLastingModels(config: Record<string, unknown>): Record<string, unknown> {
  const { providers = {}, models = [] } = config as { providers?: Record<string, { kind?: string }>; models?: unknown };
  if (!Array.isArray(models)) return config;
  const named = new Set(models.map((model: { id?: string }) => model.id));
  const lasting = builtInModels.flatMap(({ id, upstreamModel, retiresOn, dialect }) => {
    if (retiresOn === undefined || named.has(id)) return [];
    const live = LIVE_DIALECT_NAMES.find((name) => name === dialect);
    const offers = Object.entries(providers).flatMap(([provider, { kind = "" }]) =>
      PROVIDER_KINDS.get(kind)?.publishers.includes(publisherOf(id))
        ? [{ provider, model: upstreamModel, ...(live && { dialect: live }) }]
        : [],
    );
    return offers.length === 0 ? [] : [{ id, offers }];
  });
  return lasting.length === 0 ? config : { ...config, models: [...models, ...lasting] };
}

/**
 * Resolves when the gateway has noticed that a client has closed its connection: by then it has served others, which connected later.
 * The runtime's client closes in a thread of its own, soon after the call that asks for it.
 */
export async function noticed({ url }: Pick<TestGateway, "url">): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await shortPause();
    await fetch(`${url}/healthz`, { headers: { connection: "close" } });
  }
}

/** A provider for each dialect, at its host in a simulator. */
export function simulatedProviders(simulatorUrl: string): Record<`at-${ScriptedDialect}`, object> {
  const provider = (kind: string, path: string) => ({
    kind,
    base_url: simulatorUrl + path,
    api_key: "upstream-secret-key",
  });
  return {
    "at-chat": provider("openai-compatible", "/openai/v1"),
    "at-messages": provider("anthropic", "/anthropic"),
    "at-genai": provider("gemini", "/gemini"),
    "at-responses": provider("openai", "/openai/v1"),
  };
}
