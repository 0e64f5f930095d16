import type { Admission } from "../access/admit.ts";
import type { Principal } from "../access/principal.ts";
import type { JsonObject } from "../base/json.ts";
import type { Billable } from "../canon/billable.ts";
import { GatewayError } from "../canon/error.ts";
import type { Continuation, FieldNote, KeptPrices, OfferTried, Receipt } from "../canon/receipt.ts";
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
import type { HeldRequest } from "./request/held-request.ts";
import type { HeldMemory } from "./request/memory-budget.ts";
import type { CallTimer } from "./settle/call-timer.ts";
import type { Keeping } from "./settle/keeping.ts";

/** The client's connection, as far as a call controls it. The runtime closes one only for being idle. */
export interface ClientConnection {
  /** Where the client is, as far as the proxies before the gateway are trusted to tell. */
  readonly address: string;
  /** Whose key was shown on it, valid or not. */
  shown?: Principal | undefined;
  /** A key was shown on it: it may stay idle between calls for longer than a stranger's. */
  trusted: boolean;
  /** Suspends the idle timeout: a call is running, and has deadlines of its own. */
  hold(): void;
  /** The call is over: the idle timeout applies again. */
  rest(): void;
  /** Ends the connection of a client that has stopped reading: what waits for it would wait for ever. */
  hangUp(): void;
}

/** A request as the server hands it to the relay, whatever it asks for: the body not yet read. */
export interface IncomingRequest {
  request: Request;
  requestId: string;
  connection: ClientConnection;
  credential: string | undefined;
  /** Who calls, where the gateway itself does: on behalf of an operator. */
  principal?: Principal;
  dialect: Dialect;
  door: Door;
  /** Set where the path names the model; elsewhere the body does. */
  modelInPath?: string | undefined;
  /** How the name of the model is read. */
  naming: Naming;
  /** One more request for an answer that the client has asked for already: what it names was judged then. */
  isFollowUp?: boolean;
  /** What cannot be honoured to the letter is refused (`x-trivium-strict`). */
  strict: boolean;
  /** What the call is marked with, beside what its key is (`x-trivium-tags`). */
  tags?: readonly string[] | undefined;
}

/** A request for text. */
export interface IncomingCall extends IncomingRequest {
  verb: Verb;
  /** Set where the path says whether to stream; elsewhere the body does. */
  streamInPath?: boolean | undefined;
  /** What the client asks for by its URL and headers: written and read by its dialect, opaque to everything else. */
  options: unknown;
}

/** What a call knows of an attempt. Only the attempt writes it. */
export interface AttemptRecord {
  /** Undefined where the gateway answers by itself. */
  readonly target: Target | undefined;
  readonly lane: { readonly name: Receipt["lane"] };
  /** Fields of the request that were not honoured to the letter. */
  notes: FieldNote[];
  /** The terms other than the standard ones on which the target was asked, or says that it served. */
  terms: readonly string[];
  /** How long it has been at work, without the time that the gateway waited for its client; absent where it is not measured. */
  readonly workedMs?: number;
  /** By the monotonic clock; absent where no provider is asked. */
  readonly startedAtMs?: number;
  /** Where the call's bodies are kept. */
  readonly capture?: AttemptCapture | undefined;
}

/** What a lane knows of its attempt. */
export interface LaneAttempt extends Omit<AttemptRecord, "lane"> {
  readonly target: TextTarget;
}

/** What one of several attempts for a call has used, at the price of its offer. */
export interface BilledLeg {
  usage: Usage;
  costNanoUsd: number;
  /** As in the receipt. */
  priceRule: string;
  prices: KeptPrices;
  /** It is of another model than the one that answers: it is paid, and not among the usage of that one. */
  otherModel?: true;
  /** As in the receipt. */
  unpriced?: readonly string[];
}

/** One call on its way: what was asked, by whom, and what has happened to it so far. */
export interface Call {
  readonly incoming: IncomingCall;
  readonly receiptId: string;
  readonly principal: Principal;
  readonly admission: Admission;
  readonly model: Model;
  /** What the answer calls the model: at the drop-in door as the client did (decision 0027), else by its id. */
  readonly modelInAnswer: string;
  /** Dropped once an answer has begun: a stream may stay open for long, and needs only `body`. */
  request: HeldRequest | undefined;
  readonly body: JsonObject;
  readonly stream: boolean;
  readonly startedAtMs: number;
  readonly timer: CallTimer;
  readonly routing: CallRouting;
  /** What the request asks for that may cost money besides ordinary tokens. */
  readonly billables: readonly Billable[];
  /** What the name of the model and the door did to the request, whichever offer answers. */
  readonly adapted: readonly FieldNote[];
  readonly client: ClientPresence;
  /** What the call holds of the gateway's memory: its body, and the answer where that is read whole. Settling gives it back. */
  readonly memory: HeldMemory;
  readonly offersTried: OfferTried[];
  /** Undefined where no traces are exported. */
  readonly trace: CallTrace | undefined;
  /** Undefined unless the key's policy is to keep bodies. */
  readonly capture: CallCapture | undefined;
  /** Which conversation it belongs to; undefined where that makes no difference. */
  conversation: ConversationKey | undefined;
  /** Why its offers are tried in their order; undefined where there was nothing to choose. */
  plan: readonly { readonly target: Target; readonly why: string }[] | undefined;
  /** Where a broken stream went on, for the receipt. */
  continued: Continuation[] | undefined;
  /** What other attempts than the last one have used of what is paid. */
  otherLegs?: BilledLeg[];
  /** The notes of attempts that broke off and were continued: the client has their part of the answer. */
  earlierNotes?: readonly FieldNote[];
  /** Where the answer is kept for later requests. */
  readonly keeping: Keeping | undefined;
  /** A second offer was asked while the first was at work. */
  hedged: boolean;
  /** The attempt that answered; until one has, the one that was begun last. */
  attempt: AttemptRecord | undefined;
}

/** What must stop when the client disconnects. */
export interface DisconnectListener {
  clientDisconnected(): void;
}

/**
 * Whether the client is still connected, and what to stop when it is not (H13): one signal from socket to upstream. Adding a
 * listener to that signal costs more than reading it, so a short call only reads it.
 */
export class ClientPresence implements Watched {
  watchIndex = NOT_WATCHED;
  /** Its answer has begun, with status 200: what goes wrong from now on is reported inside it. */
  answerBegun = false;
  readonly #connection: ClientConnection;
  readonly #signal: AbortSignal;
  #disconnected = false;
  #attended = false;
  #released = false;
  /** An array: a call has few attempts, usually one. */
  readonly #listeners: DisconnectListener[] = [];
  #disconnection: PromiseWithResolvers<void> | undefined;
  readonly #watchdog: Pick<Watchdog, "watch" | "unwatch">;

  constructor(
    { signal }: Pick<Request, "signal">,
    connection: ClientConnection,
    watchdog: Pick<Watchdog, "watch" | "unwatch">,
  ) {
    this.#connection = connection;
    this.#signal = signal;
    connection.trusted = true;
    this.#watchdog = watchdog;
    watchdog.watch(this);
  }

  get disconnected(): boolean {
    return this.#disconnected || (!this.#attended && this.#signal.aborted);
  }

  /** The call takes its time: the idle timeout is suspended, and listeners hear of a disconnect at once. */
  check(): void {
    if (this.#attended) return;
    this.#attended = true;
    this.#watchdog.unwatch(this);
    // After the call only the rest of its answer is being sent, and the idle timeout of its connection applies again.
    if (!this.#released) this.#connection.hold();
    if (this.#signal.aborted) this.markDisconnected();
    else this.#signal.addEventListener("abort", () => this.markDisconnected(), { once: true });
  }

  /** Calls the listener when the client disconnects, or at once if it has; until `removeListener`. */
  addListener(listener: DisconnectListener): void {
    if (this.disconnected) listener.clientDisconnected();
    else this.#listeners.push(listener);
  }

  removeListener(listener: DisconnectListener): void {
    const at = this.#listeners.indexOf(listener);
    if (at >= 0) this.#listeners.splice(at, 1);
  }

  markDisconnected(): void {
    this.#disconnected = true;
    for (const listener of this.#listeners.splice(0)) listener.clientDisconnected();
    this.#disconnection?.resolve();
  }

  /** Ends the connection of a client that reads nothing. */
  hangUp(): void {
    this.#connection.hangUp();
    this.markDisconnected();
  }

  /** The call is over. */
  release(): void {
    this.#released = true;
    this.#watchdog.unwatch(this);
    if (this.#attended) this.#connection.rest();
  }

  /** Resolves when the client disconnects. */
  get disconnection(): Promise<void> {
    this.#disconnection ??= Promise.withResolvers<void>();
    this.check();
    if (this.disconnected) this.#disconnection.resolve();
    return this.#disconnection.promise;
  }
}

/** Ends a call whose client has disconnected. The message is never sent, and this is no fault of the gateway. */
export class ClientDisconnectedError extends GatewayError {
  constructor() {
    super("internal", "The client closed the connection.");
  }
}

/** The gateway has ended an attempt for the call's own reasons, which are no fault of the offer that was at work. */
export class EndedError extends GatewayError {}

/** The time is up that the caller gave for the whole call. */
export class DeadlineError extends EndedError {}

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
