import { signal } from "@preact/signals";
import { ApiError } from "../api/api-error.ts";

interface Outage {
  sinceMs: number;
  why: string;
}

/** Set while the gateway does not answer. Nothing of this ends the session: only a 401 does. */
export const outage = signal<Outage | undefined>(undefined);

/** How often the gateway has answered again after an outage. */
export const recoveries = signal(0);

const PROBED = "/api/session";
/** A probe without an answer by then has failed. */
const PROBE_MS = 5_000;
/** A request that takes longer makes a probe, because a frozen gateway accepts connections and never answers. */
const SLOW_MS = 10_000;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 10_000;

const NO_CONNECTION = "There is no connection to its address.";
const NO_ANSWER = `It accepts connections, but sent no answer within ${PROBE_MS / 1_000} seconds.`;

let timer: ReturnType<typeof setTimeout> | undefined;
let waitMs = FIRST_WAIT_MS;
let probing: Promise<void> | undefined;

function answered(): void {
  clearTimeout(timer);
  waitMs = FIRST_WAIT_MS;
  if (outage.value === undefined) return;
  outage.value = undefined;
  recoveries.value += 1;
}

function silent(why: string): void {
  outage.value = { sinceMs: outage.value?.sinceMs ?? Date.now(), why };
  clearTimeout(timer);
  timer = setTimeout(() => void probe(), waitMs);
  waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
}

/** A proxy's error page for an unreachable gateway is not JSON. */
const isOfProxy = ({ status, headers }: Response): boolean =>
  [502, 503, 504].includes(status) && headers.get("content-type")?.includes("json") !== true;

function judge(response: Response): void {
  if (isOfProxy(response)) silent(`The proxy in front of it answers ${response.status}.`);
  else answered();
}

/** A probe that ends in an error of the gateway itself says nothing about the session, so the outage goes on. */
const judgeProbe = (response: Response): void =>
  response.status >= 500 && !isOfProxy(response) ? silent(`It answers ${response.status}.`) : judge(response);

/** Asks the gateway whether it is there. Probes that would run at the same time are one. */
export function probe(): Promise<void> {
  probing ??= fetch(PROBED, { cache: "no-store", signal: AbortSignal.timeout(PROBE_MS) })
    .then(judgeProbe, (thrown: unknown) =>
      silent(thrown instanceof Error && thrown.name === "TimeoutError" ? NO_ANSWER : NO_CONNECTION),
    )
    .finally(() => {
      probing = undefined;
    });
  return probing;
}

/** `fetch` that notices whether the gateway is there. */
export async function reach(path: string, init: RequestInit): Promise<Response> {
  const slow = setTimeout(() => void probe(), SLOW_MS);
  try {
    const response = await fetch(path, init);
    judge(response);
    if (isOfProxy(response)) throw noAnswer(response.status);
    return response;
  } catch (thrown) {
    if (init.signal?.aborted || thrown instanceof ApiError) throw thrown;
    silent(NO_CONNECTION);
    throw noAnswer(0);
  } finally {
    clearTimeout(slow);
  }
}

const noAnswer = (status: number): ApiError =>
  new ApiError(
    status,
    "The gateway does not answer. What you entered is kept; try again when it answers.",
    "no_answer",
  );
