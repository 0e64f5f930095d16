import type { Admission } from "../access/admit.ts";
import type { Principal } from "../access/principal.ts";
import type { JsonObject } from "../base/json.ts";
import type { CanonCall } from "../canon/call.ts";
import { GatewayError } from "../canon/error.ts";
import type { FieldNote, OfferTried, Receipt } from "../canon/receipt.ts";
import type { Naming } from "../catalogue/catalogue.ts";
import type { Model } from "../catalogue/model.ts";
import type { Door } from "../dialects/check.ts";
import type { Dialect, ReceivedRequest } from "../dialects/dialect.ts";
import type { Verb } from "../providers/provider.ts";
import type { Target } from "../routing/target.ts";
import type { HeldMemory } from "./memory-budget.ts";
import type { Watchdog } from "./watchdog.ts";

/** The client's connection, as far as a call has a say in it. The runtime ends one by its silence alone. */
export interface ClientConnection {
  /** A key was shown on it: it may be silent for longer between calls than a stranger's. */
  trusted: boolean;
  /** Silence is allowed: a call is under way, and has deadlines of its own. */
  hold(): void;
  /** The call is over: a silent connection may be closed again. */
  rest(): void;
  /** Ends the connection of a client that takes nothing any more: what waits for it would wait for ever. */
  hangUp(): void;
}

/** A request as the server hands it to the relay: who, in which dialect, for what; the body not yet read. */
export interface IncomingCall {
  request: Request;
  requestId: string;
  connection: ClientConnection;
  credential: string | undefined;
  dialect: Dialect;
  door: Door;
  verb: Verb;
  /** How the name of the model is read. */
  naming: Naming;
  /** Where the path names the model and whether to stream; elsewhere the body does. */
  modelInPath?: string | undefined;
  streamInPath?: boolean | undefined;
  /** What the client asks for by its URL and headers: made by its dialect, handed back to it, understood by nobody else. */
  options: unknown;
  /** What cannot be honoured to the letter is refused (`x-trivium-strict`). */
  strict: boolean;
}

/** A target, and how it was asked. */
export interface AskedTarget {
  target: Target;
  lane: Receipt["lane"];
}

/** One call on its way: what was asked, by whom, and what has happened to it so far. */
export interface Call {
  incoming: IncomingCall;
  receiptId: string;
  principal: Principal;
  admission: Admission;
  model: Model;
  /** What the answer calls the model: at the drop-in door as the client did (decision 0027), else by its id. */
  modelInAnswer: string;
  /** Let go once an answer has begun: a stream may stay open for long, and needs only what was asked. */
  received: ReceivedRequest | undefined;
  body: JsonObject;
  /** The request in canonical form, once the translated lane has needed it. */
  canonical?: CanonCall;
  stream: boolean;
  startedAtMs: number;
  offersTried: OfferTried[];
  /** The target that was asked last, whether it answered or not. */
  asked?: AskedTarget;
  /** What the name of the model and the door did to the request, whichever offer answers. */
  adapted: readonly FieldNote[];
  notes: FieldNote[];
  /** On which terms beside the ordinary the last offer was asked. */
  terms: readonly string[];
  client: ClientPresence;
  /** What the call holds of the gateway's memory: its body, and the answer where that is read whole. Settling gives it back. */
  memory: HeldMemory;
}

/**
 * Whether the client still listens, and what to stop when it does not (H13): one signal from socket to upstream. To listen for
 * that signal costs more than to look at it, so a call that is over in a moment only looks.
 */
export class ClientPresence {
  readonly #connection: ClientConnection;
  readonly #signal: AbortSignal;
  #gone = false;
  #attended = false;
  #stop: (() => void) | undefined;
  #leaving: PromiseWithResolvers<void> | undefined;
  readonly #unwatch: () => void;

  constructor({ signal }: Request, connection: ClientConnection, watchdog: Pick<Watchdog, "watch">) {
    this.#connection = connection;
    this.#signal = signal;
    connection.trusted = true;
    this.#unwatch = watchdog.watch(() => this.#attend());
  }

  get gone(): boolean {
    return this.#gone || (!this.#attended && this.#signal.aborted);
  }

  /** The call takes its time: its connection may be silent meanwhile, and the client's leaving is heard of at once. */
  #attend(): void {
    if (this.#attended) return;
    this.#attended = true;
    this.#unwatch();
    this.#connection.hold();
    if (this.#signal.aborted) this.leave();
    else this.#signal.addEventListener("abort", () => this.leave(), { once: true });
  }

  /** What must end when the client leaves; replaces the attempt before it. */
  stopWhenGone(stop: () => void): void {
    this.#stop = stop;
    if (this.gone) stop();
  }

  leave(): void {
    this.#gone = true;
    this.#stop?.();
    this.#leaving?.resolve();
  }

  /** Ends the connection of a client that reads nothing. */
  hangUp(): void {
    this.#connection.hangUp();
    this.leave();
  }

  /** The call is over. */
  release(): void {
    this.#unwatch();
    if (this.#attended) this.#connection.rest();
  }

  /** Resolves when the client leaves. */
  get left(): Promise<void> {
    this.#leaving ??= Promise.withResolvers<void>();
    this.#attend();
    if (this.gone) this.#leaving.resolve();
    return this.#leaving.promise;
  }
}

/** Ends a call whose client has left. Nobody reads its text, and it is no fault of the gateway's. */
export class ClientGoneError extends GatewayError {
  constructor() {
    super("internal", "The client closed the connection.");
  }
}
