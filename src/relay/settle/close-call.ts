import type { Admission } from "../../access/admit.ts";
import type { FoundAnswer } from "../../answers/answer-cache.ts";
import type { Billable } from "../../canon/billable.ts";
import type { GatewayError } from "../../canon/error.ts";
import { addNote, boundNotes } from "../../canon/notes.ts";
import {
  ANSWERED_FROM_CACHE,
  type CachedAnswer,
  type ClientError,
  type FieldNote,
  type PlannedOffer,
  type PricedPart,
  type Receipt,
} from "../../canon/receipt.ts";
import type { Stop } from "../../canon/stop.ts";
import { unionOfTags } from "../../canon/tags.ts";
import type { CorrectedUsage } from "../../canon/usage.ts";
import { completionTokens, promptTokens, sumUsage, type Usage, type UsageSource } from "../../canon/usage.ts";
import { keptPrices } from "../../catalogue/kept-prices.ts";
import type { Offer, Pricings } from "../../catalogue/model.ts";
import type { OtherModel } from "../../catalogue/other-model.ts";
import { readTraceParent } from "../../telemetry/trace-context.ts";
import type { BilledLeg, Call, IncomingCall } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { guardsInForce } from "../guard/guards-in-force.ts";
import { producerName } from "../request/check-billing.ts";
import { answeredBy, billUsage } from "./bill-usage.ts";
import { settleCapture } from "./capture-call.ts";
import { logCall } from "./log-call.ts";
import { publishCallEnded } from "./publish-events.ts";
import { traceCall } from "./trace-call.ts";

/** The parts of an admitted call that its settlement needs, for text, images and services. */
export type AdmittedCall = Pick<
  Call,
  | "receiptId"
  | "principal"
  | "admission"
  | "model"
  | "stream"
  | "startedAtMs"
  | "timer"
  | "offersTried"
  | "trace"
  | "attempt"
  | "plan"
  | "continued"
  | "hedged"
  | "otherLegs"
  | "earlierNotes"
  | "memory"
  | "client"
  | "guards"
  | "keeper"
> & {
  incoming: Pick<IncomingCall, "requestId" | "request" | "dialect" | "modelInPath" | "tags" | "line" | "connection">;
  routing?: Pick<Call["routing"], "require">;
  /** Set if bodies are captured. */
  capture?: Call["capture"];
};

export interface Bill extends Pick<Receipt, "verb" | "clientDialect" | "upstreamDialect" | "lane" | "outcome"> {
  /** The offer that answered, or was tried last. */
  offer: Offer | undefined;
  usage: Usage;
  source: UsageSource;
  /** Set if the provider reported an implausible usage. */
  corrected?: CorrectedUsage | undefined;
  pricings: Pricings;
  priceMultiples?: Offer["priceMultiples"];
  toolPrices?: Offer["toolPrices"] | undefined;
  /** What the request contained that may cost money besides ordinary tokens. */
  billables?: readonly Billable[];
  /** Requested tools without a known price. */
  unpriced?: readonly string[];
  /** The non-standard terms that the offer was requested. */
  terms?: readonly string[];
  stop?: Stop | undefined;
  firstContentAtMs: number | undefined;
  /** The stored response that answered. */
  cached?: FoundAnswer | undefined;
  /** The error as its client receives it. */
  error?: GatewayError | undefined;
}

/** The notes of all parts of a stream that was continued elsewhere. */
function notesOf({ attempt, earlierNotes }: AdmittedCall): FieldNote[] {
  const last = attempt?.notes ?? [];
  if (earlierNotes === undefined) return last;
  const notes: FieldNote[] = [];
  for (const note of [...earlierNotes, ...last]) addNote(notes, note);
  return boundNotes(notes);
}

/**
 * Prices the usage, counts it against the key and writes the row. The row waits for `lastNote`, which is known later than everything
 * else; the reservation does not.
 */
export function closeCall(
  call: AdmittedCall,
  gateway: Gateway,
  bill: Bill,
  lastNote?: Promise<FieldNote | undefined>,
): Promise<void> {
  const { offer } = bill;
  const { cached } = bill;
  const model = cached?.model ?? call.attempt?.target?.model.id ?? call.admission.model ?? call.model.id;
  const discount = offer === undefined ? 0 : (call.principal.discounts?.of(model, offer.provider) ?? 0);
  const { otherLegs } = call;
  const { catalogue } = gateway.snapshot;
  const answered = cached === undefined ? answeredBy(call.attempt, catalogue) : undefined;
  const legs =
    cached === undefined
      ? billUsage(bill.usage, {
          prices: bill,
          provider: offer?.provider,
          terms: bill.terms ?? NO_TERMS,
          discount,
          discounts: call.principal.discounts,
          catalogue,
          answered,
        })
      : [freeLeg(bill.usage)];
  const all = otherLegs === undefined ? legs : [...otherLegs, ...legs];
  const only = all.length === 1 ? all[0] : undefined;
  const { usage, costNanoUsd, priceRule, unpriced = NO_NAMES } = only ?? sumOfLegs(all);
  const missing =
    bill.unpriced === undefined || bill.unpriced.length === 0 ? unpriced : [...unpriced, ...bill.unpriced];
  let tokens = 0;
  for (const leg of all) tokens += promptTokens(leg.usage) + completionTokens(leg.usage);
  const ofReceipt = all.length === 1 ? tokens : promptTokens(usage) + completionTokens(usage);
  call.admission.release({ costNanoUsd, tokens, counted: { tokens: ofReceipt, calls: 1, model } });
  const { totalMs, timing } = call.timer.read();
  const receipt: Receipt = {
    id: call.receiptId,
    project: call.principal.project,
    key: call.principal.keyId,
    createdAtMs: call.admission.atMs,
    model,
    provider: offer?.provider ?? call.offersTried.at(-1)?.provider ?? "",
    upstreamModel: offer?.upstreamModel ?? "",
    verb: bill.verb,
    clientDialect: bill.clientDialect,
    upstreamDialect: bill.upstreamDialect,
    lane: bill.lane,
    stream: call.stream,
    outcome: bill.outcome,
    offers: call.offersTried,
    fields: answered === undefined ? notesOf(call) : [...notesOf(call), noteOf(answered, offer)],
    usage,
    // The usage of responses that broke off is never fully measured.
    usageSource: otherLegs === undefined ? bill.source : "partial",
    priceRule,
    pricedBy: only?.prices ?? all.map(pricedPart),
    costNanoUsd,
    totalMs,
    timing,
    requestId: call.incoming.requestId,
    instance: gateway.instance,
  };
  const traceId = call.trace?.traceId ?? readTraceParent(call.incoming.request.headers)?.traceId;
  if (traceId !== undefined) receipt.traceId = traceId;
  if (bill.stop !== undefined) receipt.stop = bill.stop;
  if (bill.firstContentAtMs !== undefined) {
    receipt.firstContentMs = Math.round(bill.firstContentAtMs - call.startedAtMs);
  }
  if (missing.length > 0) {
    receipt.unpriced = [...new Set(missing)];
    gateway.unpriced.note(
      receipt,
      call.principal,
      (bill.billables ?? []).map((billable) => producerName(billable, bill.toolPrices)),
    );
  }
  if (call.plan !== undefined) receipt.plan = plannedOffers(call.plan, receipt.model, call.admission);
  if (call.continued !== undefined) receipt.continued = call.continued;
  if (call.hedged) receipt.hedged = true;
  if (answered !== undefined)
    receipt.answeredBy = answered.id ?? answered.name.slice(0, MAX_NAME_LENGTH).toWellFormed();
  if (cached !== undefined) receipt.cached = cachedAnswerOf(cached);
  if (call.routing?.require !== undefined) receipt.require = call.routing.require;
  if (call.guards !== undefined) receipt.guards = call.guards.verdicts(call.attempt);
  const { stopped } = call.client;
  if (stopped !== undefined && bill.outcome === "stopped") receipt.stoppedBy = stopped.who;
  const { session } = call.incoming.connection;
  if (session !== undefined) receipt.sessionId = session;
  if (bill.corrected !== undefined) receipt.corrected = bill.corrected;
  const tags = unionOfTags(call.principal.tags, call.incoming.tags);
  if (tags !== undefined) receipt.tags = tags;
  const { endUser } = call.admission;
  if (endUser !== undefined) receipt.endUser = endUser;
  if (bill.error !== undefined && bill.outcome !== "client_gone") receipt.error = clientError(bill.error);
  const { line } = call.incoming;
  if (line !== undefined) receipt.batch = line.batch;
  call.keeper?.settled(receipt, guardsInForce(call)?.changed === true);
  gateway.calls.remove(call.client);
  call.memory.release();
  call.client.release();
  logCall(gateway, receipt, call.incoming.requestId, call.trace);
  gateway.metrics.settled(receipt, admissionMs(call));
  if (call.trace !== undefined) traceCall(call, call.trace, gateway, receipt);
  if (gateway.events.watched) publishCallEnded(receipt, gateway);
  if (call.capture !== undefined) settleCapture(call.capture, call, gateway);
  const write = (): Promise<void> => {
    gateway.runningCalls--;
    return line?.settle(receipt) ?? gateway.ledger.write(receipt, gateway.runningCalls === 0);
  };
  if (lastNote === undefined) return write();
  return lastNote.then((note) => {
    if (note !== undefined) receipt.fields = [...receipt.fields, note];
    return write();
  });
}

/** What a stored response costs. */
const freeLeg = (usage: Usage): BilledLeg => ({
  usage,
  costNanoUsd: 0,
  priceRule: ANSWERED_FROM_CACHE,
  prices: keptPrices({ pricings: {}, terms: NO_TERMS, discount: 0 }, usage),
});

const cachedAnswerOf = ({ receipt, ageSeconds, costNanoUsd, usage }: FoundAnswer): CachedAnswer => ({
  receipt,
  ageSeconds,
  savedNanoUsd: costNanoUsd,
  usage,
});

/** The gateway's own time before the provider was called, if there was one attempt. */
function admissionMs({ attempt, startedAtMs, offersTried }: AdmittedCall): number | undefined {
  if (attempt?.startedAtMs === undefined || offersTried.length !== 1) return undefined;
  return attempt.startedAtMs - startedAtMs;
}

const MAX_MESSAGE_LENGTH = 1_000;
const MAX_NAME_LENGTH = 200;

const noteOf = ({ name, id, offer }: OtherModel, asked: Offer | undefined): FieldNote => {
  const shown = id ?? name.slice(0, MAX_NAME_LENGTH).toWellFormed();
  const own = offer === asked ? "which is billed as the model that was asked for" : "which is billed at its own price";
  const price = offer === undefined ? "whose price here is unknown" : own;
  return { path: "model", action: "approximated", reason: `the provider answered with ${shown}, ${price}` };
};

const clientError = ({ message, path, code }: GatewayError): ClientError => ({
  message: message.slice(0, MAX_MESSAGE_LENGTH).toWellFormed(),
  ...(path === undefined || path === "" ? {} : { path: path.slice(0, MAX_MESSAGE_LENGTH).toWellFormed() }),
  ...(code === undefined ? {} : { code }),
});

const NO_TERMS: readonly string[] = [];
const NO_NAMES: readonly string[] = [];

const pricedPart = ({ usage, prices }: BilledLeg): PricedPart => ({ usage, prices });

/** The total usage of a call, each part at the price of its own offer. Of other models, only unknown counters are included. */
function sumOfLegs(legs: readonly BilledLeg[]): Omit<BilledLeg, "prices"> {
  const counted = ({ usage, otherModel }: BilledLeg): Usage =>
    otherModel === undefined ? usage : usage.unknown === undefined ? {} : { unknown: usage.unknown };
  return {
    usage: legs.reduce((sum, leg) => sumUsage(sum, counted(leg)), {} as Usage),
    costNanoUsd: legs.reduce((sum, leg) => sum + leg.costNanoUsd, 0),
    priceRule: [...new Set(legs.map((leg) => leg.priceRule))].join("; then "),
    ...(legs.some(({ unpriced }) => unpriced !== undefined)
      ? { unpriced: [...new Set(legs.flatMap(({ unpriced }) => unpriced ?? []))] }
      : {}),
  };
}

/** The plan for the receipt. A model is named if it is not the one that answered. */
export const plannedOffers = (
  plan: NonNullable<Call["plan"]>,
  answered: string,
  admission: Pick<Admission, "refusalOf">,
): PlannedOffer[] =>
  plan.map(({ target, why }, index) => {
    const { offer, credential, model } = target;
    const refusal = admission.refusalOf(target);
    return {
      provider: offer.provider,
      ...(credential === "" ? {} : { credential }),
      ...(model.id === answered ? {} : { model: model.id }),
      place: index + 1,
      why: refusal === undefined ? why : `${why}; left out: ${refusal.message}`,
    };
  });
