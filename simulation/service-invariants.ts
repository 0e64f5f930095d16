import type { StoredRow } from "../src/storage/storage.ts";
import { KEYS } from "./configuration.ts";
import type { OnViolation } from "./invariants.ts";
import type { ReadService } from "./read-service.ts";
import { SERVICE_MODELS, serviceCost } from "./service-configuration.ts";
import type { ServiceBook } from "./service-host.ts";
import { serviceOffers } from "./service-wires.ts";

/** Failures caused by the request: no other provider is asked. */
const FINAL_STATUSES = [400, 404, 413, 422];
/** How long a response waits for its row to be stored, plus a margin. */
const MAX_COMMIT_MS = 400;

/** What must hold when a service call is over for its client. */
export function checkServiceAnswer(book: ServiceBook, read: ReadService | undefined, onViolation: OnViolation): void {
  const { plan, ending, status, requests, sentAtMs, endedAtMs } = book;
  for (const wrong of read?.wrong ?? []) onViolation("responses are well-formed", wrong);
  const [terminals, errors] = [read?.terminals ?? 0, read?.errors ?? 0];
  if ((ending === "whole" || ending === "failed") && terminals + errors !== 1)
    onViolation("every call ends once", `${terminals} proper ends and ${errors} errors, HTTP ${status}`);
  if (ending === "whole" && !requests.some(({ outcome }) => outcome === "whole"))
    onViolation("responses come from providers", "no provider has answered to its end");
  const { deadlineMs } = plan.routing;
  const tookMs = endedAtMs - sentAtMs;
  if (ending === "failed" && deadlineMs !== undefined && book.content === "" && tookMs > deadlineMs + MAX_COMMIT_MS)
    onViolation("a deadline holds", `${tookMs} ms instead of ${deadlineMs}`);
  if (ending === "failed" && requests.length === 0) checkRefusal(book, onViolation);
  if (ending === "failed" && requests.length > 0) checkFallback(book, onViolation);
  checkRequests(book, onViolation);
}

function checkRefusal({ plan, status }: ServiceBook, onViolation: OnViolation): void {
  const limits = KEYS[plan.key] ?? {};
  const isRated = (limits.requestsPerMinute ?? limits.tokensPerMinute ?? limits.concurrent) !== undefined;
  if (status === 402 && limits.ofModels?.[SERVICE_MODELS[plan.service].id] !== undefined) return;
  if (status === 503 || (status === 504 && plan.routing.deadlineMs !== undefined) || (status === 429 && isRated))
    return;
  onViolation("valid requests are not refused", `HTTP ${status} for the key ${plan.key}`);
}

/** Before any content, other offers are tried while one of them may succeed. */
function checkFallback({ plan, requests, content, wasCrowded }: ServiceBook, onViolation: OnViolation): void {
  const { deadlineMs, fallback } = plan.routing;
  if (content !== "" || wasCrowded || deadlineMs !== undefined || fallback === false) return;
  // An offer that a limit does not allow is left out.
  if (KEYS[plan.key]?.tokensPerMinute !== undefined || KEYS[plan.key]?.ofModels !== undefined) return;
  if (requests.some(({ status }) => status !== undefined && FINAL_STATUSES.includes(status))) return;
  const untried = serviceOffers(plan).filter((provider) => requests.every((one) => one.provider !== provider));
  if (untried.length > 0)
    onViolation("another offer is tried", `${requests.at(-1)?.fault}, and ${untried.join()} was not asked`);
}

function checkRequests({ plan, requests, ending }: ServiceBook, onViolation: OnViolation): void {
  const offers = serviceOffers(plan);
  const [first] = requests;
  for (const { provider } of requests) {
    if (!offers.includes(provider)) onViolation("a model is served by its offers", `${provider} was asked`);
    if (plan.routing.fallback === false && provider !== first?.provider)
      onViolation("no fallback if none is allowed", provider);
  }
  const answeredOnce = requests.flatMap((one) => (one.outcome === "whole" ? [`${one.provider} ${one.digest}`] : []));
  if (plan.service === "embeddings" && new Set(answeredOnce).size < answeredOnce.length)
    onViolation("received parts are not requested again", "a host has embedded the same texts twice");
  // A call with a single request sends no further one after a response.
  const answered = requests.findIndex(({ outcome }) => outcome === "whole");
  if (isOneRequest(plan) && answered >= 0 && answered < requests.length - 1 && ending !== "left")
    onViolation("failures the error table excludes are not retried", "a provider had answered, and another was asked");
}

/** The smallest batch of all providers. */
const ONE_BATCH = 96;
const isOneRequest = ({ service, size }: ServiceBook["plan"]): boolean => service !== "embeddings" || size <= ONE_BATCH;

/** What must hold for the ledger row of a service call. */
export function checkServiceRow(row: StoredRow, book: ServiceBook, onViolation: OnViolation): void {
  const { plan, requests, ending } = book;
  const column = (name: string): number => Number(row[name] ?? 0);
  const [outcome, source, provider] = [String(row["outcome"]), String(row["usage_source"]), String(row["provider"])];
  const cost = column("cost_nano_usd");
  const told = `${outcome}, ${source}: ${column("usage_input")} ${column("usage_output")} ${column("usage_seconds")} ${column("usage_characters")} ${column("usage_searches")}, ${cost} at ${provider}`;
  if (
    String(row["verb"]) !== plan.service ||
    String(row["model"]) !== SERVICE_MODELS[plan.service].id ||
    String(row["key_id"]) !== `static:${plan.key}`
  )
    onViolation("a row matches its call", told);
  if (ending === "whole" && outcome !== "ok" && outcome !== "client_gone")
    onViolation("committed responses have rows", `the client has its answer; ${told}`);
  if (ending === "failed" && outcome === "ok")
    onViolation("committed responses have rows", `the client has none; ${told}`);
  if (requests.length === 0) {
    if (cost !== 0) onViolation("cost is exact", `no provider was called; ${told}`);
    return;
  }
  const isTheirDoing = outcome === "client_gone" || plan.routing.deadlineMs !== undefined;
  // Work in progress at a disconnect or deadline is billed for what it may have done.
  const begun = requests.filter((one) => one.begun).map((one) => one.provider);
  const paid = new Set(isTheirDoing ? [...begun, provider] : begun);
  if (paid.size > 1) return;
  // Work of a provider before it failed is billed, even if another one answered.
  const [paidAt = provider] = paid;
  const exact = serviceCost(plan.service, paidAt, column);
  // Each leg of a call is rounded separately.
  if (Math.abs(cost - exact) > (source === "partial" ? requests.length : 0))
    onViolation("cost is exact", `${exact} expected; ${told}`);
  if (outcome === "ok") checkUsage(book, source, column, told, onViolation);
  if (paid.size === 0 && !isTheirDoing && cost !== 0) onViolation("cost is exact", `nothing was produced; ${told}`);
}

/** The sum of what the hosts reported, to the unit; if one of them reported nothing, more than zero. */
function checkUsage(
  { requests, plan }: ServiceBook,
  source: string,
  column: (name: string) => number,
  told: string,
  onViolation: OnViolation,
): void {
  const answered = requests.filter(({ outcome }) => outcome === "whole");
  const isTold = answered.every(({ usage }) => usage !== undefined);
  // Parts answered before another part failed are billed as a separate leg.
  const sources = [isTold ? "measured" : "estimated", ...(answered.length < requests.length ? ["partial"] : [])];
  if (!sources.includes(source)) onViolation("cost is exact", `usage reported: ${isTold}; ${told}`);
  const sums = new Map<string, number>();
  for (const { usage } of answered)
    for (const [name, units] of Object.entries(usage ?? {})) sums.set(name, (sums.get(name) ?? 0) + units);
  for (const [name, units] of sums) {
    if (isTold ? column(name) !== units : column(name) <= units - 1)
      onViolation("cost is exact", `${units} of ${name} were served; ${told}`);
  }
  const prices = SERVICE_MODELS[plan.service].offers.find(({ provider }) => provider === answered[0]?.provider)?.prices;
  if (!isTold && prices?.length && prices.every((price) => column(price.column) === 0))
    onViolation("cost is exact", `the provider reported no usage; ${told}`);
}
