import { arrayAt, objectAt, parseObject, stringAt } from "../base/json.ts";
import { GatewayError } from "../canon/error.ts";
import type { ProviderReport } from "../routing/health/health-report.ts";
import { adminAccess } from "./admin-url.ts";
import { defineCommand, EXIT, printJson, printTable } from "./command.ts";
import { aboutCommand } from "./commands.ts";

const TIMEOUT_MS = 10_000;
const HEADER = ["provider", "credential", "model", "state", "first content", "95th", "tokens/s", "quiet for"];

export const providers = defineCommand({
  ...aboutCommand("providers"),
  flags: {
    url: {
      type: "string",
      value: "URL",
      about: "where the Admin API is (default: $TRIVIUM_ADMIN_URL, else http://127.0.0.1:8788)",
    },
    secret: { type: "string", value: "SECRET", about: "admin secret (default: $TRIVIUM_ADMIN_SECRET)" },
    config: {
      type: "string",
      value: "FILE",
      about: "configuration to take URL and secret from (default: $TRIVIUM_CONFIG)",
    },
  },
  run: async ({ values }) => {
    const found = await readProviders(await adminAccess(values));
    if (values.json) printJson(found);
    else printTable(HEADER, found.flatMap(rowsOf));
    return EXIT.ok;
  },
});

async function readProviders({ url, secret }: { url: string; secret: string }): Promise<ProviderReport[]> {
  const headers = { authorization: `Bearer ${secret}` };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  let response: Response;
  try {
    response = await fetch(`${url}/api/providers`, { headers, signal, redirect: "manual" });
  } catch (cause) {
    const remedy = "Start a gateway with `trivium serve`, or say with --url or TRIVIUM_ADMIN_URL where it is.";
    throw new GatewayError("upstream_failed", `No Admin API answers at ${url}. ${remedy}`, { cause });
  }
  const body = parseObject(await response.text());
  if (response.ok && body !== undefined) return arrayAt(body, "data") as unknown[] as ProviderReport[];
  const said = stringAt(objectAt(body, "error"), "message") ?? `What answers at ${url} is no Admin API.`;
  throw new GatewayError(response.status === 401 ? "unauthenticated" : "upstream_failed", said);
}

function rowsOf({ provider, credentials }: ProviderReport): string[][] {
  return credentials.flatMap(({ label, models }) => {
    const start = [provider, label ?? "-"];
    if (models.length === 0) return [[...start, "-", "not called yet", "-", "-", "-", "-"]];
    return models.map((model) => [
      ...start,
      model.model,
      STATES[model.state],
      milliseconds(model.first_content_ms),
      milliseconds(model.p95_first_content_ms),
      model.tokens_per_second === null ? "-" : model.tokens_per_second.toFixed(1),
      model.quiet_ms === 0 ? "-" : `${Math.ceil(model.quiet_ms / 1000)} s`,
    ]);
  });
}

const STATES = { closed: "in use", half_open: "to be probed", open: "left alone" } as const;

const milliseconds = (ms: number | null): string => (ms === null ? "-" : `${ms} ms`);
