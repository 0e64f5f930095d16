import type { Admission } from "../access/admit.ts";
import type { Principal } from "../access/principal.ts";
import type { JsonObject } from "../base/json.ts";
import { GatewayError } from "../canon/error.ts";
import type { FieldNote, OfferTried, Receipt } from "../canon/receipt.ts";
import type { Naming } from "../catalogue/catalogue.ts";
import type { Model } from "../catalogue/model.ts";
import type { Door } from "../dialects/check.ts";
import type { Dialect } from "../dialects/dialect.ts";
import type { Verb } from "../providers/provider.ts";
import type { Target, TextTarget } from "../routing/target.ts";
import type { HeldRequest } from "./held-request.ts";
import type { HeldMemory } from "./memory-budget.ts";
import { NOT_WATCHED, type Watchdog, type Watched } from "./watchdog.ts";

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

/** A request as the server hands it to the relay, whatever it asks for: the body not yet read. */
export interface IncomingRequest {
  request: Request;
  requestId: string;
  connection: ClientConnection;
  credential: string | undefined;
  dialect: Dialect;
  /** How the name of the model is read. */
  naming: Naming;
  /** What cannot be honoured to the letter is refused (`x-trivium-strict`). */
  strict: boolean;
}

/** A request for text: in which form, and for what. */
export interface IncomingCall extends IncomingRequest {
  door: Door;
  verb: Verb;
  /** Where the path names the model and whether to stream; elsewhere the body does. */
  modelInPath?: string | undefined;
  streamInPath?: boolean | undefined;
  /** What the client asks for by its URL and headers: made by its dialect, handed back to it, understood by nothing else. */
  options: unknown;
}

/** What a call has of an attempt. The attempt alone writes it. */
export interface AttemptRecord {
  /** Undefined where the gateway answers by itself. */
  readonly target: Target | undefined;
  readonly lane: { readonly name: Receipt["lane"] };
  /** Fields of the request that were not honoured to the letter. */
  notes: FieldNote[];
  /** On which terms other than the ordinary the target was asked, or says that it has served. */
  terms: readonly string[];
}

/** What a lane has of the attempt that it is of. */
export interface LaneAttempt extends Omit<AttemptRecord, "lane"> {
  readonly target: TextTarget;
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
  /** Let go once an answer has begun: a stream may stay open for long, and needs only what was asked. */
  request: HeldRequest | undefined;
  readonly body: JsonObject;
  readonly stream: boolean;
  readonly startedAtMs: number;
  /** What the name of the model and the door did to the request, whichever offer answers. */
  readonly adapted: readonly FieldNote[];
  readonly client: ClientPresence;
  /** What the call holds of the gateway's memory: its body, and the answer where that is read whole. Settling gives it back. */
  readonly memory: HeldMemory;
  readonly offersTried: OfferTried[];
  /** The attempt that answered; until one has, the one that was begun last. */
  attempt: AttemptRecord | undefined;
}

/** What must end when the client leaves. */
export interface LeaveListener {
  clientLeft(): void;
}

/**
 * Whether the client still listens, and what to stop when it does not (H13): one signal from socket to upstream. To listen for
 * that signal costs more than to look at it, so a call that is over in a moment only looks.
 */
export class ClientPresence implements Watched {
  watchIndex = NOT_WATCHED;
  readonly #connection: ClientConnection;
  readonly #signal: AbortSignal;
  #gone = false;
  #attended = false;
  #released = false;
  /** A call has few attempts, and mostly one. */
  readonly #listeners: LeaveListener[] = [];
  #leaving: PromiseWithResolvers<void> | undefined;
  readonly #watchdog: Pick<Watchdog, "watch" | "unwatch">;

  constructor({ signal }: Request, connection: ClientConnection, watchdog: Pick<Watchdog, "watch" | "unwatch">) {
    this.#connection = connection;
    this.#signal = signal;
    connection.trusted = true;
    this.#watchdog = watchdog;
    watchdog.watch(this);
  }

  get gone(): boolean {
    return this.#gone || (!this.#attended && this.#signal.aborted);
  }

  /** The call takes its time: its connection may be silent meanwhile, and the client's leaving is heard of at once. */
  check(): void {
    if (this.#attended) return;
    this.#attended = true;
    this.#watchdog.unwatch(this);
    // After the call only the rest of its answer is on its way, and the idle timeout of its connection counts again.
    if (!this.#released) this.#connection.hold();
    if (this.#signal.aborted) this.leave();
    else this.#signal.addEventListener("abort", () => this.leave(), { once: true });
  }

  /** Tells it when the client leaves, at once where it has left already, until `forget`. */
  tell(listener: LeaveListener): void {
    if (this.gone) listener.clientLeft();
    else this.#listeners.push(listener);
  }

  forget(listener: LeaveListener): void {
    const at = this.#listeners.indexOf(listener);
    if (at >= 0) this.#listeners.splice(at, 1);
  }

  leave(): void {
    this.#gone = true;
    for (const listener of this.#listeners.splice(0)) listener.clientLeft();
    this.#leaving?.resolve();
  }

  /** Ends the connection of a client that reads nothing. */
  hangUp(): void {
    this.#connection.hangUp();
    this.leave();
  }

  /** The call is over. */
  release(): void {
    this.#released = true;
    this.#watchdog.unwatch(this);
    if (this.#attended) this.#connection.rest();
  }

  /** Resolves when the client leaves. */
  get left(): Promise<void> {
    this.#leaving ??= Promise.withResolvers<void>();
    this.check();
    if (this.gone) this.#leaving.resolve();
    return this.#leaving.promise;
  }
}

/** Ends a call whose client has left. Its text is never sent, and it is no fault of the gateway's. */
export class ClientGoneError extends GatewayError {
  constructor() {
    super("internal", "The client closed the connection.");
  }
}
