import type { Entry } from "../../access/admit.ts";
import type { Principal } from "../../access/principal.ts";
import { parseObject } from "../../base/json.ts";
import { RECEIPT_PREFIX, timePrefix } from "../../base/timed-id.ts";
import { GatewayError } from "../../canon/error.ts";
import { readTagsHeader, unionOfTags } from "../../canon/tags.ts";
import { BATCH } from "../../canon/terms.ts";
import type { Usage } from "../../canon/usage.ts";
import { ClientPresence, type IncomingCall, type KeptResponse } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { endUserOf } from "../request/end-user.ts";
import { CallTimer } from "../settle/call-timer.ts";
import { type AdmittedCall, closeCall } from "../settle/close-call.ts";
import { type BatchTarget, isForService } from "./target-by-id.ts";

interface UnreadLine {
  target: BatchTarget;
  response: KeptResponse;
  principal: Principal;
  entry: Entry;
  incoming: Pick<IncomingCall, "requestId" | "request" | "dialect" | "connection"> &
    Pick<AdmittedCall["incoming"], "line">;
  /** Why its call could not read the response. */
  error: GatewayError;
}

/**
 * Bills a line whose call could not be repeated to read its response: for example, a file that its request names was deleted. The
 * provider has done the work (H43).
 */
export async function billUnread(line: UnreadLine, gateway: Gateway): Promise<void> {
  const { target, response, principal, entry, incoming, error } = line;
  const startedAtMs = gateway.clock.nowMs();
  const { model, offer, via } = target;
  const usage = usageOf(target, response);
  const tags = readTagsHeader(incoming.request.headers);
  const admission = entry.admit({
    endUser: await userOf(incoming.request, principal),
    tags: unionOfTags(principal.tags, tags),
    model: model.id,
    dialect: incoming.dialect.name,
    estimatedCostNanoUsd: 0,
    maxCostNanoUsd: 0,
    estimatedTokens: 0,
  });
  const call: AdmittedCall = {
    receiptId: RECEIPT_PREFIX + timePrefix(admission.atMs) + gateway.random.id(),
    principal,
    admission,
    model,
    stream: false,
    startedAtMs,
    timer: new CallTimer(gateway.clock.nowMs, startedAtMs),
    offersTried: [{ provider: offer.provider, outcome: "answered", ms: 0 }],
    trace: undefined,
    attempt: { target, lane: { name: "translated" }, notes: [], terms: [BATCH] },
    plan: undefined,
    continued: undefined,
    hedged: false,
    memory: gateway.memory.open(principal),
    client: new ClientPresence(incoming.request, incoming.connection, gateway.watchdog),
    incoming: { ...incoming, modelInPath: undefined, tags },
  };
  gateway.runningCalls++;
  await closeCall(call, gateway, {
    verb: isForService(target) ? "embeddings" : "generate",
    clientDialect: incoming.dialect.name,
    upstreamDialect: via,
    lane: "translated",
    outcome: error.kind,
    offer,
    usage: usage ?? {},
    source: "measured",
    pricings: target.pricings,
    priceMultiples: target.priceMultiples,
    toolPrices: target.toolPrices,
    // Work without a reported usage has no known price.
    unpriced: usage === undefined && response.status < 300 ? ["usage"] : [],
    terms: [BATCH],
    firstContentAtMs: undefined,
  });
}

/** Undefined if the request does not say. */
async function userOf(request: Request, principal: Principal): Promise<string | undefined> {
  const body = parseObject(await request.text()) ?? {};
  try {
    return endUserOf(request.headers, body, principal);
  } catch {
    return undefined;
  }
}

function usageOf(target: BatchTarget, { status, body }: KeptResponse): Usage | undefined {
  const parsed = status < 300 ? parseObject(body) : undefined;
  if (parsed === undefined || isForService(target)) return undefined;
  const { codec, origin, quirks } = target;
  try {
    return codec.decodeResponse(parsed, { origin, quirks, reading: {}, makeId: () => "" }).usage;
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}
