import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { MODEL, UPSTREAM_MODEL } from "./bodies.ts";
import { type Child, type Processes, printedUrl } from "./processes.ts";
import { RESPONSES_MODEL } from "./responses-bodies.ts";

const root = new URL("..", import.meta.url).pathname;

export const API_KEY = `sk-trv-${"benchmark-".repeat(5).slice(0, 43)}`;

/** The gateway as people run it: with keys, catalogue, prices and a ledger in SQLite below `folder`. */
export function startGateway(processes: Processes, folder: string, upstreamUrl: string): Promise<Child> {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "trivium.yaml");
  writeFileSync(file, stringify(configuration(folder, upstreamUrl)));
  return processes.start({
    name: "the gateway",
    command: [join(root, "bin/trivium"), "serve", "--config", file, "--json"],
    findUrl: printedUrl,
  });
}

function configuration(folder: string, upstreamUrl: string) {
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
        dialects: ["chat", "responses"],
      },
    },
    models: [
      { dialect: "chat", id: MODEL },
      { dialect: "responses", id: RESPONSES_MODEL },
    ].map(({ dialect, id }) => ({
      id,
      context_length: 400_000,
      max_output_tokens: 32_000,
      pricings: { prompt: price(1.25), completion: price(10), input_cache_read: price(0.125) },
      offers: [{ provider: "bench", model: UPSTREAM_MODEL, dialect }],
    })),
    keys: [{ name: "bench", key: API_KEY }],
  };
}
