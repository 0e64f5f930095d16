import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { MODEL, UPSTREAM_MODEL } from "./bodies.ts";
import { listenersAt } from "./proc.ts";
import { type Child, type Processes, printedUrl } from "./processes.ts";
import { RESPONSES_MODEL } from "./responses-bodies.ts";
import { modelOf, NATIVE_PAIRS, PAIRS } from "./translated-pairs.ts";

const root = new URL("..", import.meta.url).pathname;
const programOf = (checkout: string) => join(checkout, "bin/trivium");

export const API_KEY = `sk-trv-${"benchmark-".repeat(5).slice(0, 43)}`;

const PROGRAM = programOf(root);
const PROJECT = "bench";

/** More than a run uses of anything: what is measured is the counting. */
const LIMITS = {
  requests_per_minute: 100_000_000,
  tokens_per_minute: 2_000_000_000,
  concurrent: 100_000,
  budget_usd_per_day: 500_000,
  budget_usd_per_month: 500_000,
  budget_usd_total: 500_000,
};

interface Form {
  /** Its key, the key's project and the gateway itself have limits of every kind. */
  isLimited?: boolean;
  /** How many processes share the port. */
  workers?: number;
  /** A collector that it exports traces and metrics to. */
  collectorUrl?: string;
  /** Where its Admin API is. */
  admin?: { port: number; secret: string };
  /** Another checkout, whose gateway it is. */
  root?: string;
}

/** The gateway as people run it: with keys, catalogue, prices and a ledger in SQLite below `folder`, in one process unless `form` says otherwise. */
export function startGateway(processes: Processes, folder: string, upstreamUrl: string, form: Form): Promise<Child> {
  const { isLimited = false, workers = 1, root: checkout = root } = form;
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "trivium.yaml");
  writeFileSync(
    file,
    stringify({ ...configuration(folder, upstreamUrl, isLimited, dialectsOf(checkout)), ...sectionsOf(form) }),
  );
  if (isLimited) limitProject(file);
  return processes.start({
    name: "the gateway",
    command: [programOf(checkout), "serve", "--config", file, "--json", ...workersFlag(workers, checkout)],
    findUrl: async (output) => {
      const url = printedUrl(output);
      if (url === undefined || workers === 1) return url;
      return (await listenersAt(Number(new URL(url).port))) === workers ? url : undefined;
    },
  });
}

/** An older checkout runs one process by default, and with the flag a second one that serves no calls. */
const workersFlag = (workers: number, checkout: string): string[] =>
  workers > 1 || existsSync(join(checkout, "src/app/workers/worker-count.ts")) ? ["--workers", String(workers)] : [];

/** An older checkout may not know Responses yet. */
export const dialectsOf = (checkout: string): readonly string[] =>
  ["chat", "messages", "genai", "responses"].filter((dialect) => existsSync(join(checkout, "src/dialects", dialect)));

function sectionsOf({ admin, collectorUrl }: Form): object {
  return {
    ...(admin && { admin: { host: "127.0.0.1", ...admin } }),
    ...(collectorUrl && { telemetry: { endpoint: collectorUrl, metrics_interval_seconds: 5 } }),
  };
}

function limitProject(file: string): void {
  const flags = Object.entries(LIMITS).flatMap(([name, value]) => ["--limit", `${name}=${value}`]);
  execFileSync(PROGRAM, ["projects", "create", PROJECT, ...flags, "--config", file], { stdio: "pipe" });
}

function configuration(folder: string, upstreamUrl: string, limited: boolean, dialects: readonly string[]) {
  const price = (value: number) => [{ value, unit: "perMTokens", currency: "USD" }];
  return {
    server: { host: "127.0.0.1", port: 0, drain_seconds: 0 },
    admin: { host: "127.0.0.1", port: 0 },
    data_dir: join(folder, "data"),
    simulator: false,
    providers: {
      bench: {
        kind: "openai-compatible",
        base_url: `${upstreamUrl}/v1`,
        api_key: "upstream-key",
        dialects,
      },
    },
    models: [
      { dialect: "chat", id: MODEL },
      { dialect: "responses", id: RESPONSES_MODEL },
      ...[...NATIVE_PAIRS, ...PAIRS].map((pair) => ({ dialect: pair[1], id: modelOf(pair) })),
    ]
      .filter(({ dialect }) => dialects.includes(dialect))
      .map(({ dialect, id }) => ({
        id,
        context_length: 400_000,
        max_output_tokens: 32_000,
        pricings: { prompt: price(1.25), completion: price(10), input_cache_read: price(0.125) },
        offers: [{ provider: "bench", model: UPSTREAM_MODEL, dialect }],
      })),
    keys: [{ name: "bench", key: API_KEY, ...(limited ? { project: PROJECT, limits: LIMITS } : {}) }],
    ...(limited ? { limits: LIMITS } : {}),
  };
}
