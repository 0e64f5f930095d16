import type { CanonCall } from "../../canon/call.ts";
import { asGatewayError, type GatewayError } from "../../canon/error.ts";
import { addNote } from "../../canon/notes.ts";
import { sumUsage, type Usage } from "../../canon/usage.ts";
import { priceCall } from "../../catalogue/price-call.ts";
import type { TextTarget } from "../../routing/target.ts";
import { Attempt } from "../attempt/attempt.ts";
import { observeBreak } from "../attempt/observe-attempt.ts";
import { canonicalCall, TranslatedLane } from "../attempt/translated.ts";
import { tryOffers } from "../attempt/try-offers.ts";
import { type BilledLeg, type Call, CallEndedError, type LaneAttempt } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { MemoryExhaustedError } from "../request/memory-budget.ts";
import { billFailed, billLeg, billUnfinished } from "../settle/bill-leg.ts";
import { discountAt } from "../settle/discount.ts";
import { isAbandoned } from "../settle/settle.ts";
import type { AnswerSoFar } from "./answer-so-far.ts";
import type { ClientOutput } from "./client-output.ts";
import { ContinuationRefusedError, ContinuingEncoder } from "./continuing-encoder.ts";
import { type OpenStream, openStream } from "./open-stream.ts";

/** Only server-sent events: other framings cannot be read from the middle. */
const EVENT_STREAM = "text/event-stream";

/** Whether the call asks to continue broken streams, and an offer can do so. */
export function survives({ routing, incoming }: Call, plan: readonly TextTarget[]): boolean {
  return (
    routing.survive &&
    plan.some(({ goesOn }) => goesOn) &&
    incoming.dialect.http.streamType(incoming.options).startsWith(EVENT_STREAM)
  );
}

/** A stream that broke off after its first content, and what the client has read of it. */
export interface BrokenStream {
  stream: OpenStream;
  soFar: AnswerSoFar;
  firstContentAtMs: number | undefined;
}

/** Continues broken streams at other offers. One per call that asks for it. */
export class Survivor {
  readonly #call: Call;
  readonly #gateway: Gateway;
  readonly #output: ClientOutput;
  readonly #plan: readonly TextTarget[];
  /** The targets that were asked to continue. */
  readonly #asked = new Set<TextTarget>();

  constructor(call: Call, gateway: Gateway, output: ClientOutput, plan: readonly TextTarget[]) {
    this.#call = call;
    this.#gateway = gateway;
    this.#output = output;
    this.#plan = plan;
  }

  /** Continues the response at another offer; undefined if none can. */
  async goOn(broken: BrokenStream, thrown: unknown): Promise<OpenStream | undefined> {
    const call = this.#call;
    const error = asGatewayError(thrown);
    if (!this.#mayGoOn(error, broken)) return undefined;
    const { attempt } = broken.stream;
    attempt.close();
    const legs = this.#bill(broken, error);
    const fromCharacters = broken.soFar.text.length;
    const next = await this.#askInTurn(broken, error, [...(call.otherLegs ?? []), ...legs]);
    if (next === undefined) {
      // The attempt that broke off is the one to report and bill.
      call.attempt = attempt;
      return undefined;
    }
    observeBreak(this.#gateway, attempt, error);
    const { tried } = attempt;
    if (tried !== undefined) Object.assign(tried, { outcome: "failed", reason: error.kind });
    call.otherLegs = [...(call.otherLegs ?? []), ...legs];
    call.continued = [...(call.continued ?? []), { provider: next.attempt.target.offer.provider, fromCharacters }];
    // Kept apart from the notes of the next attempt, which may be sent, and billed for, what this one was not.
    call.earlierNotes = [...(call.earlierNotes ?? []), ...attempt.notes];
    return { ...next, soFar: broken.soFar };
  }

  async #askInTurn(
    { stream: { attempt }, soFar }: BrokenStream,
    error: GatewayError,
    legs: readonly BilledLeg[],
  ): Promise<OpenStream | undefined> {
    const call = this.#call;
    const candidates = this.#candidates(attempt.target, error);
    // Both attempts are billed, so the key must have enough budget left for another.
    if (candidates.length === 0 || call.admission.extend() === undefined) return undefined;
    if (call.guards !== undefined) call.guards.continues = attempt;
    for (const target of candidates) {
      if (call.offersTried.length >= call.routing.maxAttempts) return undefined;
      this.#asked.add(target);
      const next = await this.#ask(target, soFar, legs);
      if (next !== undefined) return next;
      if (call.client.disconnected || this.#gateway.closing) return undefined;
    }
    return undefined;
  }

  #mayGoOn(error: GatewayError, { stream, soFar }: BrokenStream): boolean {
    const call = this.#call;
    if (call.client.disconnected || this.#gateway.closing || !soFar.canGoOn || stream.tap.state !== "open")
      return false;
    if (error instanceof CallEndedError || error instanceof MemoryExhaustedError || !error.rule.tryNextOffer)
      return false;
    return (
      call.request !== undefined && canBeginAnswer(canonicalCall(call.request, call.incoming.dialect, this.#gateway))
    );
  }

  /** The targets after it in the plan, then itself if the error table allows a second try. No offer is asked twice to continue. */
  #candidates(broken: TextTarget, error: GatewayError): TextTarget[] {
    const behind = this.#plan.slice(this.#plan.indexOf(broken) + 1);
    const again = error.rule.retrySameOffer ? [broken] : [];
    return [...behind, ...again].filter((target) => target.goesOn && !this.#asked.has(target));
  }

  #bill({ stream: { tap, attempt }, firstContentAtMs }: BrokenStream, error: GatewayError): BilledLeg[] {
    const { usage, usageRuns, generatedCharacters, generatedMedia, reasoningSeen, stop } = tap;
    const ending = {
      outcome: error.kind,
      usage,
      usageRuns,
      generatedCharacters,
      generatedMedia,
      reasoningSeen,
      stop,
      firstContentAtMs,
    };
    return billLeg(this.#call, this.#gateway, attempt, ending);
  }

  /** If its response is not usable, the next offer may do better. */
  async #ask(target: TextTarget, soFar: AnswerSoFar, legs: readonly BilledLeg[]): Promise<OpenStream | undefined> {
    const gateway = this.#gateway;
    const call = this.#call;
    let made: Attempt | undefined;
    const begin = (to: TextTarget) => {
      made = new Attempt(call, gateway, to, (_call, _gateway, of) => this.#lane(soFar, legs, of));
      return made;
    };
    const open = (attempt: Attempt) => openStream(attempt, this.#output, this.#gateway.clock);
    try {
      return await tryOffers(call, gateway, [target], begin, open, isHonest);
    } catch (thrown) {
      // Its failure is recorded among the offers tried. The client is told about the one that broke the response.
      if (made !== undefined) this.#billFailed(made, thrown);
      return undefined;
    }
  }

  /** It was working when the client left or the deadline passed (H26), or it failed and reported its usage (H14). */
  #billFailed(attempt: Attempt, thrown: unknown): void {
    const call = this.#call;
    const bill = isAbandoned(call) ? billUnfinished : billFailed;
    const legs = bill(call, this.#gateway, attempt, thrown);
    if (legs.length > 0) call.otherLegs = [...(call.otherLegs ?? []), ...legs];
  }

  #lane(soFar: AnswerSoFar, legs: readonly BilledLeg[], attempt: LaneAttempt): TranslatedLane {
    const before = legs.reduce((sum, { usage }) => sumUsage(sum, usage), {} as Usage);
    const paid = legs.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0);
    const encoder = new ContinuingEncoder(soFar, before);
    soFar.note = (note) => addNote(attempt.notes, note);
    const discount = discountAt(this.#call.principal, attempt.target);
    const costOf = (usage: Usage) => priceCall(usage, attempt.target, attempt.terms, discount).costNanoUsd;
    soFar.costUsd = () => (paid + costOf(encoder.used)) / 1e9;
    return new TranslatedLane(this.#call, this.#gateway, attempt, encoder);
  }
}

/** A structured response, or one of several, cannot be continued from its beginning. */
const canBeginAnswer = ({ format, candidateCount = 1 }: CanonCall): boolean =>
  format === undefined && candidateCount === 1;

/** A provider that did not continue the text would do the same again. */
const isHonest = (error: GatewayError): boolean => !(error instanceof ContinuationRefusedError);
