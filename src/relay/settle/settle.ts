import type { Billable } from "../../canon/billable.ts";
import { asGatewayError } from "../../canon/error.ts";
import { type MediaTokens, withMedia } from "../../canon/media-tokens.ts";
import { addNote, boundNotes } from "../../canon/notes.ts";
import type { FieldNote, PlannedOffer, PricedPart, Receipt } from "../../canon/receipt.ts";
import type { Stop } from "../../canon/stop.ts";
import { unionOfTags } from "../../canon/tags.ts";
import {
  type CorrectedUsage,
  completionTokens,
  promptTokens,
  sumUsage,
  type Usage,
  type UsagePass,
  type UsageSource,
} from "../../canon/usage.ts";
import type { Offer, Pricings } from "../../catalogue/model.ts";
import { tokensOfCharacters } from "../../dialects/reading/estimate-tokens.ts";
import type { Target } from "../../routing/target.ts";
import { readTraceParent } from "../../telemetry/trace-context.ts";
import type { BilledLeg, Call, IncomingCall, LaneAttempt } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { producerName, unpricedTools } from "../request/check-billing.ts";
import { outputLimit } from "../request/output-limit.ts";
import { withRequestedTools } from "../request/with-requested-tools.ts";
import { billUsage, findOffer } from "./bill-usage.ts";
import { settleCapture } from "./capture-call.ts";
import { correctUsage, type UsageBounds } from "./correct-usage.ts";
import { discountAt } from "./discount.ts";
import { logCall } from "./log-call.ts";
import { type Asked, sentBillables } from "./sent-billables.ts";
import { tellEnded } from "./tell-call.ts";
import { traceCall } from "./trace-call.ts";
import { unseenTokens } from "./unseen-tokens.ts";
import { passBounds, usageBounds } from "./usage-bounds.ts";

/** How a call ended, as far as money is concerned. */
export interface Ending {
  /** `ok`, `client_gone`, or the kind of the error. */
  outcome: string;
  /** The gateway has ended the provider's work, which may have made more than was seen of it. */
  ended?: boolean;
  /** The answer came to its proper end, though its client may have disconnected before. */
  whole: boolean;
  /** An answer had begun: something was produced, and is billed. */
  produced: boolean;
  usage: Usage | undefined;
  /** The usage counts everything so far, even where the answer broke off. */
  usageRuns?: boolean;
  /** Undefined where it was not counted, since the usage is plausible without it. */
  generatedCharacters: number | undefined;
  /** Images and sound that came. */
  generatedMedia?: MediaTokens | undefined;
  /** Thoughts were among what was generated. */
  reasoningSeen: boolean;
  stop: Stop | undefined;
  firstContentAtMs: number | undefined;
  /** When the attempt began, where the call began earlier. */
  begunAtMs?: number;
}

/** How an attempt ended that was not the last. */
export type LegEnding = Omit<Ending, "whole" | "produced">;

/** Writes the call's one ledger row, keeps its answer and releases its reservation. Resolves when all is committed. */
export function settle(call: Call, gateway: Gateway, ending: Ending): Promise<void> {
  const { usage: counted, source, corrected } = usageOf(call, gateway, ending);
  const usage = ending.produced ? withTools(call, call.attempt, ending, counted) : counted;
  // A call that failed, or whose client disconnected, is recorded and billed by the offer that was being tried.
  const { attempt } = call;
  const target = attempt?.target;
  const workedMs = attempt?.workedMs;
  if (ending.whole && target !== undefined && workedMs !== undefined) {
    gateway.health.generated(target, completionTokens(usage), workedMs);
  }
  const closed = closeCall(call, gateway, {
    verb: call.incoming.verb,
    clientDialect: call.incoming.dialect.name,
    upstreamDialect: target?.via ?? call.incoming.dialect.name,
    lane: attempt?.lane.name ?? "native",
    outcome: ending.outcome,
    offer: target?.offer,
    usage,
    source,
    corrected,
    pricings: target?.pricings ?? call.model.pricings,
    priceMultiples: target?.priceMultiples,
    toolPrices: target?.toolPrices,
    billables: call.billables,
    unpriced: ending.produced && target !== undefined ? unpricedBy(call, target) : NO_NAMES,
    terms: attempt?.terms ?? NO_TERMS,
    stop: ending.stop,
    firstContentAtMs: ending.firstContentAtMs,
  });
  const { keeping } = call;
  if (keeping === undefined || !ending.whole) return closed;
  // Whoever knows its id could read it though the process was killed: no answer is to be had that has no row.
  if (keeping.pending || call.stream) return closed.then(() => keeping.save(attempt));
  // Both must be stored before the client has all of its answer: it may build on it at once.
  return Promise.all([closed, keeping.save(attempt)]).then(() => {});
}

function withTools(
  { billables }: Call,
  attempt: Asked["attempt"],
  { whole, firstContentAtMs }: Pick<Ending, "whole" | "firstContentAtMs">,
  usage: Usage,
): Usage {
  if (billables.length === 0) return usage;
  return withRequestedTools({ billables, attempt, brokeOff: !whole && firstContentAtMs !== undefined }, usage);
}

const unpricedBy = (call: Call, { offer, via }: Target): readonly string[] =>
  call.billables.length === 0
    ? NO_NAMES
    : unpricedTools(sentBillables(call), offer, via === call.incoming.dialect.name);

const NO_NAMES: readonly string[] = [];

/** What the settlement of any call needs: text, images or videos. */
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
> & {
  incoming: Pick<IncomingCall, "requestId" | "request" | "dialect" | "modelInPath" | "tags">;
  /** Where the key has bodies kept. */
  capture?: Call["capture"];
};

export interface Bill extends Pick<Receipt, "verb" | "clientDialect" | "upstreamDialect" | "lane" | "outcome"> {
  /** The offer that answered, or was asked last. */
  offer: Offer | undefined;
  usage: Usage;
  source: UsageSource;
  /** Where the provider reported another usage, which cannot be true. */
  corrected?: CorrectedUsage | undefined;
  pricings: Pricings;
  priceMultiples?: Offer["priceMultiples"];
  toolPrices?: Offer["toolPrices"] | undefined;
  /** What the request asked for that may cost money besides ordinary tokens. */
  billables?: readonly Billable[];
  /** Tools that were asked for without a known price. */
  unpriced?: readonly string[];
  /** The terms other than the standard ones on which the offer was asked. */
  terms?: readonly string[];
  stop?: Stop | undefined;
  firstContentAtMs: number | undefined;
}

/** Of a stream that went on elsewhere, every part is in the receipt. */
function notesOf({ attempt, earlierNotes }: AdmittedCall): FieldNote[] {
  const last = attempt?.notes ?? [];
  if (earlierNotes === undefined) return last;
  const notes: FieldNote[] = [];
  for (const note of [...earlierNotes, ...last]) addNote(notes, note);
  return boundNotes(notes);
}

/** Prices what was used, counts it against the key and writes the row. */
export function closeCall(call: AdmittedCall, gateway: Gateway, bill: Bill): Promise<void> {
  const { offer } = bill;
  const model = (call.attempt?.target?.model ?? call.model).id;
  const discount = offer === undefined ? 0 : (call.principal.discounts?.of(model, offer.provider) ?? 0);
  const { otherLegs } = call;
  const legs = billUsage(bill.usage, {
    prices: bill,
    provider: offer?.provider,
    terms: bill.terms ?? NO_TERMS,
    discount,
    discounts: call.principal.discounts,
    catalogue: gateway.snapshot.catalogue,
  });
  const all = otherLegs === undefined ? legs : [...otherLegs, ...legs];
  const only = all.length === 1 ? all[0] : undefined;
  const { usage, costNanoUsd, priceRule, unpriced = NO_NAMES } = only ?? sumOfLegs(all);
  const missing =
    bill.unpriced === undefined || bill.unpriced.length === 0 ? unpriced : [...unpriced, ...bill.unpriced];
  let tokens = 0;
  for (const leg of all) tokens += promptTokens(leg.usage) + completionTokens(leg.usage);
  call.admission.release({ costNanoUsd, tokens });
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
    fields: notesOf(call),
    usage,
    // What is paid for answers that broke off is never all measured.
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
  if (call.plan !== undefined) receipt.plan = plannedOffers(call.plan, receipt.model);
  if (call.continued !== undefined) receipt.continued = call.continued;
  if (call.hedged) receipt.hedged = true;
  if (bill.corrected !== undefined) receipt.corrected = bill.corrected;
  const tags = unionOfTags(call.principal.tags, call.incoming.tags);
  if (tags !== undefined) receipt.tags = tags;
  gateway.runningCalls--;
  call.memory.release();
  call.client.release();
  logCall(gateway, receipt, call.incoming.requestId, call.trace);
  gateway.metrics.settled(receipt, admissionMs(call));
  if (call.trace !== undefined) traceCall(call, call.trace, gateway, receipt);
  if (gateway.events.watched) tellEnded(receipt, gateway);
  if (call.capture !== undefined) settleCapture(call.capture, call, gateway);
  return gateway.ledger.write(receipt, gateway.runningCalls === 0);
}

/** What the gateway did before it asked a provider, where one was asked once. */
function admissionMs({ attempt, startedAtMs, offersTried }: AdmittedCall): number | undefined {
  if (attempt?.startedAtMs === undefined || offersTried.length !== 1) return undefined;
  return attempt.startedAtMs - startedAtMs;
}

const NO_TERMS: readonly string[] = [];

const pricedPart = ({ usage, prices }: BilledLeg): PricedPart => ({ usage, prices });

/** All that was used for a call, each part at the price of its own offer. Of other models only what is unknown is told here. */
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

/**
 * What the attempt at work has used, when another takes its place: it is paid all the same (H14). Not for the last attempt, which
 * `settle` bills.
 */
export function billLeg(call: Call, gateway: Gateway, attempt: LaneAttempt, ending: LegEnding): BilledLeg[] {
  const broken = { ...ending, whole: false, produced: true };
  const usage = withTools(call, attempt, broken, usageOf(call, gateway, broken).usage);
  const { target, terms } = attempt;
  return billUsage(usage, {
    prices: target,
    provider: target.offer.provider,
    terms,
    discount: discountAt(call.principal, target),
    discounts: call.principal.discounts,
    catalogue: gateway.snapshot.catalogue,
  });
}

/** The same of one that was ended before its first content: what it may have generated until then (H26). */
export const billUnfinished = (
  call: Call,
  gateway: Gateway,
  attempt: LaneAttempt & { startedAtMs: number },
): BilledLeg[] =>
  billLeg(call, gateway, attempt, {
    outcome: "client_gone",
    usage: undefined,
    generatedCharacters: 0,
    reasoningSeen: false,
    stop: undefined,
    firstContentAtMs: undefined,
    begunAtMs: attempt.startedAtMs,
  });

/** The same of one that failed before its first content, where its provider reported what it had used until then. */
export function billFailed(call: Call, gateway: Gateway, attempt: LaneAttempt, error: unknown): BilledLeg[] {
  const { kind, failure } = asGatewayError(error);
  if (failure?.usage === undefined) return [];
  return billLeg(call, gateway, attempt, {
    outcome: kind,
    usage: failure.usage,
    usageRuns: true,
    generatedCharacters: 0,
    reasoningSeen: false,
    stop: undefined,
    firstContentAtMs: undefined,
  });
}

/** The plan as the receipt has it; a model is named where it is not the one that answered. */
export const plannedOffers = (plan: NonNullable<Call["plan"]>, answered: string): PlannedOffer[] =>
  plan.map(({ target: { offer, credential, model }, why }, index) => ({
    provider: offer.provider,
    ...(credential === "" ? {} : { credential }),
    ...(model.id === answered ? {} : { model: model.id }),
    place: index + 1,
    why,
  }));

/** Whether the last offer was at work when its client disconnected, or the call's time was up. */
export const isAbandoned = ({ offersTried }: Pick<Call, "offersTried">): boolean =>
  offersTried.at(-1)?.outcome === "abandoned";

/** Whoever goes on with an answer is given its beginning too. */
function estimateInput({ incoming, body, continued }: Call): number {
  const prompt = incoming.dialect.requests.estimateTokens(body);
  return continued === undefined ? prompt : prompt + tokensOfCharacters(continued.at(-1)?.fromCharacters ?? 0);
}

interface BilledUsage {
  usage: Usage;
  source: UsageSource;
  corrected?: CorrectedUsage | undefined;
}

/** The upstream's own figures where it gave them; else what can be counted here, and marked as such (H14, H26). */
function usageOf(call: Call, gateway: Gateway, ending: Ending): BilledUsage {
  if (!ending.produced || call.incoming.verb === "count_tokens") return { usage: {}, source: "measured" };
  const { generatedCharacters = 0, whole } = ending;
  const { usage: reported, corrected } = reportedUsage(call, gateway, ending);
  if (!whole) {
    const usage = brokenUsage(call, gateway, { ...ending, usage: reported });
    return { usage: withMedia(usage, reported, ending.generatedMedia), source: "partial", corrected };
  }
  if (reported?.output !== undefined) {
    return { usage: reported, source: corrected === undefined ? "measured" : "estimated", corrected };
  }
  const estimate: Usage = { input: estimateInput(call), output: tokensOfCharacters(generatedCharacters) };
  // A provider may report the prompt's tokens and not the answer's: what it reports counts.
  const usage = withMedia({ ...estimate, ...reported }, reported, ending.generatedMedia);
  return { usage, source: "estimated", corrected };
}

/** What the upstream reported, within what can have happened (decision 0085). */
function reportedUsage(
  call: Call,
  gateway: Gateway,
  ending: Ending,
): Partial<Pick<BilledUsage, "usage" | "corrected">> {
  const { usage, generatedCharacters: characters, reasoningSeen, stop } = ending;
  if (usage === undefined) return {};
  const seen = {
    whole: ending.whole && usage.output !== undefined,
    characters: characters ?? 0,
    stop,
    estimateInput: () => estimateInput(call),
    bounds: usageBounds(call, usage, { characters, reasoningSeen }),
  };
  const own = correctUsage(usage, seen);
  if (own.reasons.length === 0 && usage.passes === undefined) return { usage };
  const passes = usage.passes?.map((pass) => {
    const known = { ...seen, whole: false, bounds: boundsOfPass(call, gateway, pass) };
    const corrected = correctUsage(pass.usage, known);
    return { reasons: corrected.reasons, pass: { ...pass, usage: corrected.usage } };
  });
  const reasons = [...new Set([...own.reasons, ...(passes ?? []).flatMap((pass) => pass.reasons)])];
  if (reasons.length === 0) return { usage };
  const { offer } = call.attempt?.target ?? {};
  gateway.log.warn(
    {
      receipt: call.receiptId,
      provider: offer?.provider,
      upstreamModel: offer?.upstreamModel,
      reasons,
      reported: usage,
    },
    "provider reported implausible usage; billing the corrected usage",
  );
  return {
    usage: passes === undefined ? own.usage : { ...own.usage, passes: passes.map(({ pass }) => pass) },
    corrected: { reported: usage, reasons },
  };
}

function boundsOfPass(call: Call, { snapshot }: Gateway, { model }: UsagePass): UsageBounds {
  const own = call.attempt?.target?.offer;
  const named = model === undefined ? undefined : findOffer(snapshot.catalogue, own?.provider, model);
  return passBounds(call, named?.offer ?? own);
}

/** Of an answer that broke off: what was reported, at least what passed through, and an estimate of the rest if we ended it. */
function brokenUsage(call: Call, gateway: Gateway, ending: Ending): Usage {
  const { usage: reported, firstContentAtMs, generatedCharacters = 0 } = ending;
  const passed = tokensOfCharacters(generatedCharacters);
  const generated = completionTokens(reported ?? {});
  // A running usage counts everything so far.
  if (reported && ending.usageRuns && (generated > 0 || passed === 0)) return reported;
  const ended = ending.ended === true || ending.outcome === "client_gone" || gateway.closing;
  // The provider counted its answer and failed then: its count holds, unless more than that came after it.
  if (reported?.input !== undefined && !ended && generated > 0 && passed <= generated * COUNTED_BEFORE) return reported;
  const unseen = ended
    ? unseenTokens(call, {
        contentSeen: firstContentAtMs !== undefined,
        reasoningSeen: ending.reasoningSeen,
        waitedMs: (firstContentAtMs ?? gateway.clock.nowMs()) - (ending.begunAtMs ?? call.startedAtMs),
      })
    : 0;
  const most = Math.max(passed, Math.min(passed + unseen, outputLimit(call, Number.MAX_SAFE_INTEGER)));
  const reasoning = Math.max(reported?.reasoning ?? 0, most - passed);
  const all = Math.max(generated, most);
  return {
    ...(reported?.input === undefined ? { input: estimateInput(call) } : {}),
    ...reported,
    output: all - reasoning,
    ...(reasoning > 0 ? { reasoning } : {}),
  };
}

/** An estimate by characters is this many times too large at most. */
const COUNTED_BEFORE = 2;
