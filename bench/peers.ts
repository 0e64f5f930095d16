/**
 * Other gateways, where `--peers` names the folder that they are installed in:
 *
 *     python3 -m venv DIR && DIR/bin/pip install 'litellm[proxy]'
 *     npm install --prefix DIR @portkey-ai/gateway
 *     python3 -m venv DIR/smg && DIR/smg/bin/pip install smg
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { freePort } from "../testing/free-port.ts";
import { answers } from "./answers.ts";
import { MODEL, SMALL_REQUEST, UPSTREAM_MODEL } from "./bodies.ts";
import { API_KEY } from "./gateway.ts";
import type { Child, Processes } from "./processes.ts";
import { CHAT_TO_MESSAGES, modelOf } from "./translated-pairs.ts";

export const PEERS = ["litellm", "portkey", "smg"] as const;
export type PeerName = (typeof PEERS)[number];

const PROGRAMS: Readonly<Record<PeerName, string>> = {
  litellm: "bin/litellm",
  portkey: "node_modules/@portkey-ai/gateway/build/start-server.js",
  smg: "smg/bin/smg",
};
/** Python loads for long. */
const START_TIMEOUT_MS = 120_000;

export const isPeer = (name: string): name is PeerName => (PEERS as readonly string[]).includes(name);

export const hasPeer = (name: PeerName, folder: string | undefined): boolean =>
  folder !== undefined && existsSync(join(folder, PROGRAMS[name]));

export async function startPeer(
  processes: Processes,
  name: PeerName,
  installed: string,
  folder: string,
  upstreamUrl: string,
): Promise<Child> {
  const port = freePort();
  const url = `http://127.0.0.1:${port}`;
  const program = join(installed, PROGRAMS[name]);
  const isUp = async () => ((await answers(url)) ? url : undefined);
  const options = { name, startTimeoutMs: START_TIMEOUT_MS, findUrl: isUp };
  if (name === "portkey") {
    // In Bun, like the others: in Node.js 20 its streams fail.
    const command = [process.execPath, program, "--headless", `--port=${port}`];
    const child = await processes.start({ ...options, command });
    return { ...child, headers: portkeyHeaders(upstreamUrl) };
  }
  if (name === "smg") {
    const command = [program, ...smgArguments(port, upstreamUrl)];
    // It answers before it has asked the host for its models.
    return processes.start({ ...options, command, findUrl: async () => ((await isServing(url)) ? url : undefined) });
  }
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "litellm.yaml");
  writeFileSync(file, stringify(litellmConfiguration(upstreamUrl)));
  const command = [program, "--config", file, "--host", "127.0.0.1", "--port", String(port), "--telemetry", "False"];
  return processes.start({ ...options, command, environment: { LITELLM_LOG: "ERROR" } });
}

/** One key for all, and no database: less than the gateway does. */
const litellmConfiguration = (upstreamUrl: string) => ({
  model_list: [
    {
      model_name: MODEL,
      litellm_params: { model: `openai/${UPSTREAM_MODEL}`, api_base: `${upstreamUrl}/v1`, api_key: "upstream-key" },
    },
    {
      model_name: modelOf(CHAT_TO_MESSAGES),
      litellm_params: { model: `anthropic/${UPSTREAM_MODEL}`, api_base: upstreamUrl, api_key: "upstream-key" },
    },
  ],
  general_settings: { master_key: API_KEY },
});

/** A router in Rust: one key for all, no prices, no ledger, and one thread for each processor. */
const smgArguments = (port: number, upstreamUrl: string) => [
  "launch",
  ...["--host", "127.0.0.1", "--port", String(port), "--prometheus-port", String(freePort())],
  ...["--backend", "openai", "--worker-urls", upstreamUrl, "--policy", "round_robin"],
  ...["--api-key", API_KEY, "--history-backend", "none", "--disable-health-check", "--log-level", "error"],
];

async function isServing(url: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${API_KEY}`, "content-type": "application/json" };
  const request = { method: "POST", headers, body: SMALL_REQUEST };
  return fetch(`${url}/v1/chat/completions`, request).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** It has no keys of its own, no prices and no ledger. Calls name their host. */
const portkeyHeaders = (upstreamUrl: string) => ({
  "x-portkey-provider": "openai",
  "x-portkey-custom-host": `${upstreamUrl}/v1`,
});
