import type { Admission, Entry } from "../access/admit.ts";
import type { Principal } from "../access/principal.ts";
import type { JsonObject } from "../base/json.ts";
import type { PreparedRequest } from "../batches/native-work.ts";
import type { Billable } from "../canon/billable.ts";
import { GatewayError } from "../canon/error.ts";
import type { BatchPosition, Continuation, FieldNote, KeptPrices, OfferTried, Receipt } from "../canon/receipt.ts";
import type { Usage } from "../canon/usage.ts";
import type { AttemptCapture, CallCapture } from "../capture/call-capture.ts";
import type { Naming } from "../catalogue/catalogue.ts";
import type { Model } from "../catalogue/model.ts";
import type { Dialect } from "../dialects/dialect.ts";
import type { Door } from "../dialects/reading/check.ts";
import type { Verb } from "../providers/provider.ts";
import type { CallRouting } from "../routing/call-routing.ts";
import type { ConversationKey } from "../routing/conversations.ts";
import type { Target, TextTarget } from "../routing/target.ts";
import type { CallTrace } from "../telemetry/trace-context.ts";
import { NOT_WATCHED, type Watchdog, type Watched } from "./attempt/watchdog.ts";
import type { AnswerKeeper } from "./cached/answer-keeper.ts";
import type { GuardRun, SeenTexts } from "./guard/guard-run.ts";
import type { HeldCache } from "./request/held-cache.ts";
import type { HeldRequest } from "./request/held-request.ts";
import type { HeldMemory } from "./request/memory-budget.ts";
import { NOT_RUNNING } from "./running-calls.ts";
import type { AnswerSaver } from "./settle/answer-saver.ts";
import type { CallTimer } from "./settle/call-timer.ts";

/** The client's connection, as far as a call controls it. The runtime closes one only for being idle. */
export interface ClientConnection {
  /** The client's address, as far as the proxies in front of the gateway are trusted. */
  readonly address: string;
  /** The key that was used on it, valid or not. */
  shown?: Principal | undefined;
  /** The id of the live connection that the request is a turn of; undefined if it has a connection to itself. */
  readonly session?: string | undefined;
  /** A key was used on it, so it may stay idle longer than a stranger's. */
  trusted: boolean;
  /** Suspends the idle timeout while a call runs, which has its own deadlines. */
  hold(): void;
  /** The call is over: the idle timeout applies again. */
  rest(): void;
  /** Closes the connection of a client that has stopped reading. Output for it would wait forever. */
  hangUp(): void;
}

/** How a call is admitted and recorded that no client waits for. */
export interface BatchLine {
  readonly batch: BatchPosition;
  /** The assumed length of a response without a limit. */
  readonly assumedOutputTokens: number;
  /** For each call that its request leads to: a fallback is a call of its own. */
  enter(): Entry;
  /** Takes the receipt of each, which is stored together with the result. */
  settle(receipt: Receipt): Promise<void>;
  /** Set if a provider's batch API runs it: the call itself then sends nothing. */
  readonly native?: NativePass | undefined;
}

/** A line of a batch at a provider's batch API: first its request is prepared, later its response is read. */
export type NativePass = PreparingPass | AnsweredPass;

/** Prepares the request that the batch API is sent, and ends the call. */
export interface PreparingPass {
  /** The id of the target that the batch goes to; undefined for the line that chooses it. */
  readonly target: string | undefined;
  /** It is prepared once more before it is sent. */
  readonly isTrial: boolean;
  take(prepared: PreparedRequest): void;
  readonly response?: undefined;
}

/** Continues the call with the response that the batch API returned. */
export interface AnsweredPass {
  readonly target: string;
  readonly response: KeptResponse;
}

/** A response that arrived earlier. */
export interface KeptResponse {
  readonly status: number;
  readonly body: string;
  /** It was read by a call, which has a receipt for it. */
  isRead: boolean;
}

/**
 * Calls that the gateway makes for a call (choices 25). `work` belongs to the caller and inherits everything that holds for the call.
 * `check` belongs to the operator, and inherits nothing by which a caller could make it fail.
 */
export type Kind = "work" | "check";

/** A call of each kind that the gateway makes in the course of another. */
export const MADE_BY_CALLS = {
  hosted_image: "work",
  hosted_round: "work",
  fallback: "work",
  moderation: "check",
  webhook: "check",
} as const satisfies Record<string, Kind>;

export type MadeByCalls = keyof typeof MADE_BY_CALLS;

/** Why there is a call that no client has sent. */
export interface Cause {
  readonly name: MadeByCalls;
  readonly kind: Kind;
  readonly call: CausingCall;
  /** What guards have seen of the call and of everything that was made for it. */
  readonly seen: SeenTexts;
  /** For a check: how long it may take. */
  readonly withinMs?: number;
}

/** What a call hands over to those that are made for it, as `derived/inheritance.ts` says. */
export type CausingCall = Pick<
  Call,
  "principal" | "admission" | "routing" | "client" | "startedAtMs" | "trace" | "guards"
> & { readonly incoming: IncomingRequest };

/**
 * `beside`: work that a host does beside the turns, such as writing down what the user says. It is a request, and takes no slot: turns of the
 * same session must not wait for it. `late`: more usage of work that was admitted. `refused`: limits have refused it, and its host
 * has done it nevertheless. It is counted with the reason.
 */
export type SessionWork = "beside" | "late" | "refused";

/** A request of any kind as the server passes it to the relay, before its body is read. */
export interface IncomingRequest {
  request: Request;
  requestId: string;
  connection: ClientConnection;
  credential: string | undefined;
  /** The caller if the gateway itself calls on behalf of an operator. */
  principal?: Principal;
  dialect: Dialect;
  door: Door;
  /** Set if the path names the model; otherwise the body does. */
  modelInPath?: string | undefined;
  /** How the name of the model is read. */
  naming: Naming;
  /** Set if the gateway makes it for another call. */
  cause?: Cause | undefined;
  /** Set for work of a live session that does not enter like a request. */
  sessionWork?: SessionWork;
  /** Set if the gateway itself runs a line of a batch. */
  line?: BatchLine | undefined;
  /** Fields that cannot be honoured exactly are rejected (`x-trivium-strict`). */
  strict: boolean;
  /** Tags of the call in addition to those of its key (`x-trivium-tags`). */
  tags?: readonly string[] | undefined;
}

/** A request for text. */
export interface IncomingCall extends IncomingRequest {
  verb: Verb;
  /** Set if the path says whether to stream; otherwise the body does. */
  streamInPath?: boolean | undefined;
  /** Options from the URL and headers: written and read by the dialect, opaque to everything else. */
  options: unknown;
}

/** What a call knows about an attempt. Only the attempt writes it. */
export interface AttemptRecord {
  /** Undefined if the gateway itself responds. */
  readonly target: Target | undefined;
  readonly lane: { readonly name: Receipt["lane"] };
  /** Fields of the request that were not honoured exactly. */
  notes: FieldNote[];
  /** The non-standard terms that the target was requested, or reports. */
  terms: readonly string[];
  /** The host's name of the model that answered. */
  answeredAs?: string | undefined;
  /** Working time without the time spent waiting for the client; absent if it is not measured. */
  readonly workedMs?: number;
  /** By the monotonic clock; absent if no provider is called. */
  readonly startedAtMs?: number;
  /** Set if bodies are captured. */
  readonly capture?: AttemptCapture | undefined;
  /** Set if the provider was sent files before the request, or had them. */
  readonly files?: OfferTried["files"];
}

/** What a lane knows about its attempt. */
export interface LaneAttempt extends Omit<AttemptRecord, "lane"> {
  readonly target: TextTarget;
}

/** The usage of one of several attempts for a call, at the price of its offer. */
export interface BilledLeg {
  usage: Usage;
  costNanoUsd: number;
  /** As in the receipt. */
  priceRule: string;
  prices: KeptPrices;
  /** The usage of another model than the one that answers: billed, but not part of that model's usage. */
  otherModel?: true;
  /** As in the receipt. */
  unpriced?: readonly string[];
}

/** A call in progress: the request, the caller, and what has happened so far. */
export interface Call {
  readonly incoming: IncomingCall;
  readonly receiptId: string;
  readonly principal: Principal;
  readonly admission: Admission;
  readonly model: Model;
  /** The model's name in the response: as the client wrote it at the drop-in door (decision 0027), otherwise its id. */
  readonly modelInAnswer: string;
  /** Dropped once the response has begun. A stream may stay open for long, and needs only `body`. */
  request: HeldRequest | undefined;
  readonly body: JsonObject;
  /** The body for readers that do not look into the texts of its messages: parsing a long one as a whole takes long. */
  readonly outline: JsonObject;
  readonly stream: boolean;
  readonly startedAtMs: number;
  readonly timer: CallTimer;
  readonly routing: CallRouting;
  /** What the request contains that may cost money besides ordinary tokens. */
  readonly billables: readonly Billable[];
  /** Notes on how the model's name and the door changed the request, for every offer. */
  readonly adapted: readonly FieldNote[];
  readonly client: ClientPresence;
  /** The call's share of the gateway's memory: its body, and a response that is read whole. Settling releases it. */
  readonly memory: HeldMemory;
  readonly offersTried: OfferTried[];
  /** Undefined if no traces are exported. */
  readonly trace: CallTrace | undefined;
  /** Undefined unless the key's bodies are captured. */
  readonly capture: CallCapture | undefined;
  /** Its conversation; undefined if that makes no difference. */
  conversation: ConversationKey | undefined;
  /** Why its offers are tried in this order; undefined if there was no choice. */
  plan: readonly { readonly target: Target; readonly why: string }[] | undefined;
  /** Where a broken stream was continued, for the receipt. */
  continued: Continuation[] | undefined;
  /** Billed usage of attempts other than the last. */
  otherLegs?: BilledLeg[];
  /** The notes of attempts that were continued elsewhere: the client has their part of the response. */
  earlierNotes?: readonly FieldNote[];
  /** Set if the response is stored for later requests. */
  readonly saver: AnswerSaver | undefined;
  /** The cache that it reads, which only one credential holds. */
  readonly cache: HeldCache | undefined;
  /** Set if the response is to answer equal requests. */
  readonly keeper?: AnswerKeeper | undefined;
  /** Undefined if no guard looks at the call. */
  readonly guards?: GuardRun | undefined;
  /** A second offer was tried while the first was working. */
  hedged: boolean;
  /** Ends what competes with an attempt, so that its cost is known. Set while two compete. */
  outrunOthers?: (winner: object) => void;
  /** The attempt that answered; until one has, the one that was begun last. */
  attempt: AttemptRecord | undefined;
}

/** Something to stop when the client disconnects, or when an operator stops the call. */
export interface CallListener {
  clientDisconnected(): void;
  callStopped?(reason: StoppedError): void;
  /** The target that it tries. */
  readonly target?: Target;
  /** The characters of content that have arrived, if they are counted. */
  readonly contentSoFar?: number | undefined;
}

/**
 * Whether the client is still connected, and what to stop if not (H13): one signal from socket to upstream. Adding a listener to
 * the signal costs more than reading it, so a short call only reads it.
 */
export class ClientPresence implements Watched, CallListener {
  watchIndex = NOT_WATCHED;
  /** Its index in the list of running calls, set only by the list. NOT_RUNNING before and after. */
  runningIndex = NOT_RUNNING;
  /** The response has begun with status 200. Errors are reported inside it from now on. */
  answerBegun = false;
  /** Set if an operator has stopped the call. */
  stopped: StoppedError | undefined;
  readonly #connection: ClientConnection;
  readonly #signal: AbortSignal;
  #disconnected = false;
  #attended = false;
  #released = false;
  /** What works on the call. An array: a call has few attempts, usually one. */
  readonly #listeners: CallListener[] = [];
  #disconnection: PromiseWithResolvers<void> | undefined;
  readonly #watchdog: Pick<Watchdog, "watch" | "unwatch">;
  readonly #cause: ClientPresence | undefined;

  /** `cause`: that of the call which this one is made for. What ends either ends both. */
  constructor(
    { signal }: Pick<Request, "signal">,
    connection: ClientConnection,
    watchdog: Pick<Watchdog, "watch" | "unwatch">,
    cause?: ClientPresence,
  ) {
    this.#connection = connection;
    this.#signal = signal;
    connection.trusted = true;
    this.#watchdog = watchdog;
    this.#cause = cause;
    watchdog.watch(this);
    if (cause === undefined) return;
    cause.check();
    cause.addListener(this);
  }

  /** The call is a turn of a live connection. */
  get isTurn(): boolean {
    return this.#connection.session !== undefined;
  }

  get disconnected(): boolean {
    return this.#disconnected || (!this.#attended && this.#signal.aborted);
  }

  /** The call takes long: suspends the idle timeout, and listens for a disconnect. */
  check(): void {
    if (this.#attended) return;
    this.#attended = true;
    this.#watchdog.unwatch(this);
    // After the call only the rest of its response is being sent, and the idle timeout applies again.
    if (!this.#released) this.#connection.hold();
    if (this.#signal.aborted) this.markDisconnected();
    else this.#signal.addEventListener("abort", () => this.markDisconnected(), { once: true });
  }

  /** What works on the call. */
  get listeners(): readonly CallListener[] {
    return this.#listeners;
  }

  /** Calls the listener when the client disconnects or the call is stopped, or at once if that has happened; until `removeListener`. */
  addListener(listener: CallListener): void {
    this.#listeners.push(listener);
    if (this.disconnected) listener.clientDisconnected();
    if (this.stopped !== undefined) listener.callStopped?.(this.stopped);
  }

  removeListener(listener: CallListener): void {
    const at = this.#listeners.indexOf(listener);
    if (at >= 0) this.#listeners.splice(at, 1);
  }

  clientDisconnected(): void {
    this.markDisconnected();
  }

  callStopped(reason: StoppedError): void {
    if (this.stopped !== undefined) return;
    this.stopped = reason;
    for (const listener of [...this.#listeners]) listener.callStopped?.(reason);
    this.#disconnection?.resolve();
  }

  markDisconnected(): void {
    if (this.#disconnected) return;
    this.#disconnected = true;
    for (const listener of [...this.#listeners]) listener.clientDisconnected();
    this.#disconnection?.resolve();
  }

  /** An operator stops the call: whatever works on it or waits for it ends. Only the first stop counts. */
  stop(who: string): void {
    if (this.stopped !== undefined) return;
    this.#cause?.stop(who);
    this.callStopped(this.#cause?.stopped ?? new StoppedError(who));
  }

  /** Closes the connection of a client that reads nothing. */
  hangUp(): void {
    this.#connection.hangUp();
    this.markDisconnected();
  }

  /** The call is over. */
  release(): void {
    this.#released = true;
    this.#cause?.removeListener(this);
    this.#watchdog.unwatch(this);
    if (this.#attended) this.#connection.rest();
  }

  /** Resolves when the client disconnects, or an operator stops the call. */
  get disconnection(): Promise<void> {
    this.#disconnection ??= Promise.withResolvers<void>();
    this.check();
    if (this.disconnected || this.stopped !== undefined) this.#disconnection.resolve();
    return this.#disconnection.promise;
  }
}

/** Ends a call whose client has disconnected. The message is never sent, and it is not an error of the gateway. */
export class ClientDisconnectedError extends GatewayError {
  constructor() {
    super("internal", "The client closed the connection.");
  }
}

/** The gateway ended an attempt for the call's own reasons, not through the offer's fault. */
export class EndedError extends GatewayError {}

/** The whole call was ended: no other offer is tried, and what was generated until then is billed. */
export class CallEndedError extends EndedError {}

/** The caller's deadline for the whole call has passed. */
export class DeadlineError extends CallEndedError {}

/** An operator stopped the call. Clients are not told who. */
export class StoppedError extends CallEndedError {
  /** As in the audit log. */
  readonly who: string;

  constructor(who: string) {
    super("stopped", "An operator of this gateway stopped this call.");
    this.who = who;
  }
}

/** Another offer was faster. */
export class OutrunError extends EndedError {
  constructor() {
    super("upstream_timeout", "Another provider answered first.");
  }
}

export const deadlinePassed = (deadlineMs: number): DeadlineError =>
  new DeadlineError(
    "upstream_timeout",
    `The response did not finish within this request's deadline of ${deadlineMs} ms.`,
  );
