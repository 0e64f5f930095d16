import { parseObject, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { defineCommand, EXIT, printJson } from "../command.ts";
import { gatewayUrl } from "../gateway-url.ts";

const TIMEOUT_MS = 5_000;

interface Health {
  healthy: boolean;
  status: string;
  reason?: string;
}

/** For container platforms: an image without a shell has no other program for a health check. */
export const health = defineCommand({
  flags: {
    ready: { type: "boolean", about: "check that the gateway accepts calls, not only that it is running" },
    url: {
      type: "string",
      value: "URL",
      about: "URL of the gateway (default: $TRIVIUM_URL, else from the configuration)",
    },
    config: {
      type: "string",
      value: "FILE",
      about: "configuration file to read the URL from (default: $TRIVIUM_CONFIG)",
    },
  },
  run: async ({ values }) => {
    const found = await ask(`${await gatewayUrl(values)}${values.ready ? "/readyz" : "/healthz"}`);
    if (values.json) printJson(found);
    else console.log(found.reason === undefined ? found.status : `${found.status}: ${found.reason}`);
    return found.healthy ? EXIT.ok : EXIT.failed;
  },
});

async function ask(url: string): Promise<Health> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: "manual" });
    const body = parseObject(await response.text());
    const status = stringAt(body, "status");
    if (status === undefined)
      return { healthy: false, status: "unknown", reason: `the server at ${url} is not a Trivium gateway` };
    const reason = stringAt(body, "reason");
    return { healthy: response.ok, status, ...withoutAbsent({ reason }) };
  } catch {
    return { healthy: false, status: "away", reason: `cannot connect to ${url}` };
  }
}
