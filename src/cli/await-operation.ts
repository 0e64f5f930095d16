import { setTimeout as sleep } from "node:timers/promises";
import { type JsonObject, numberAt, objectAt } from "../base/json.ts";
import { GatewayError } from "../canon/error.ts";
import { type GatewayClient, readJson } from "./gateway-client.ts";

const FIRST_PAUSE_MS = 2_000;
const MAX_PAUSE_MS = 15_000;
const PAUSE_GROWTH = 1.3;
const POLL_TIMEOUT_MS = 30_000;
/** The gateway ends every operation sooner. */
const GIVE_UP_MS = 4 * 3_600_000;
/** A gateway that restarts is waited for. */
const MAX_FAILURES = 12;

export interface Waiting {
  signal: AbortSignal;
  onProgress: (percent: number | undefined) => void;
  nowMs: () => number;
}

/** Polls an operation until it is done (contract 3). */
export async function awaitOperation(
  client: GatewayClient,
  name: string,
  { signal, onProgress, nowMs }: Waiting,
): Promise<JsonObject> {
  const path = `/api/genai/v1/${name.slice(0, name.lastIndexOf("/operations/"))}:fetchPredictOperation`;
  const until = nowMs() + GIVE_UP_MS;
  let pauseMs = FIRST_PAUSE_MS;
  let failures = 0;
  for (;;) {
    try {
      const response = await client.post(path, { operationName: name }, { signal, timeoutMs: POLL_TIMEOUT_MS });
      const operation = await readJson(response);
      if (operation["done"] === true) return operation;
      failures = 0;
      onProgress(numberAt(objectAt(operation, "metadata"), "progressPercent"));
    } catch (error) {
      failures += 1;
      if (!isPassing(error) || failures > MAX_FAILURES) throw error;
    }
    if (nowMs() > until) throw new GatewayError("upstream_timeout", "The video did not finish within four hours.");
    await sleep(pauseMs, undefined, { signal });
    pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * PAUSE_GROWTH);
  }
}

const isPassing = (error: unknown): boolean =>
  error instanceof GatewayError && (error.kind === "upstream_failed" || error.kind === "rate_limited");
