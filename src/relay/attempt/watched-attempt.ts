import type { Cancel } from "../../base/clock.ts";
import type { GatewayError } from "../../canon/error.ts";
import type { FieldNote, OfferTried } from "../../canon/receipt.ts";
import type { Target } from "../../routing/target.ts";
import {
  type AttemptRecord,
  type Call,
  type CallListener,
  ClientDisconnectedError,
  deadlinePassed,
  type StoppedError,
} from "../call.ts";
import { type Gateway, shuttingDown } from "../gateway.ts";
import type { OfferAttempt } from "./attempted-call.ts";
import { NOT_WATCHED, type Watched } from "./watchdog.ts";

/** How many attempts may continue at once after their clients disconnected. Image attempts may hold several images in memory. */
export const MAX_ORPHANS = { orphanedTexts: 256, orphanedImages: 32 } as const;

/** What an attempt needs to know of its call. */
type WatchedCall = Pick<Call, "client" | "startedAtMs" | "routing">;

/**
 * One attempt at one target. It can be ended early by a disconnect, the caller's deadline, an operator, the gateway's shutdown or its
 * owner.
 * Work that the provider has started is billed, and only its end reports how much, so after a disconnect the attempt continues
 * within limits (H13, H26).
 */
export abstract class WatchedAttempt<Of extends WatchedCall, At extends Target>
  implements AttemptRecord, OfferAttempt, CallListener, Watched
{
  watchIndex = NOT_WATCHED;
  readonly target: At;
  abstract readonly lane: AttemptRecord["lane"];
  notes: FieldNote[] = [];
  terms: readonly string[] = [];
  answeredAs: string | undefined;
  tried: OfferTried | undefined;
  readonly startedAtMs: number;
  protected readonly call: Of;
  protected readonly gateway: Gateway;
  /** When the client disconnected from work that went on. */
  protected orphanedAtMs: number | undefined;
  /** An exact timer, because the watchdog's tick may be longer than the whole deadline. */
  #cancelDeadline: Cancel | undefined;
  #finished = false;
  #whenEnded: (() => void) | undefined;

  constructor(call: Of, gateway: Gateway, target: At) {
    this.call = call;
    this.gateway = gateway;
    this.target = target;
    this.startedAtMs = gateway.clock.nowMs();
  }

  /** The gateway's counter for attempts that continue without their client. */
  protected abstract readonly orphans: keyof typeof MAX_ORPHANS;

  /** The provider is working on something that it will bill. */
  protected abstract readonly isAtWork: boolean;

  /** Must be called when construction is complete, because the attempt may end at once. */
  protected watch(): void {
    const { gateway, call } = this;
    gateway.watchdog.watch(this);
    const { deadlineMs } = call.routing;
    if (deadlineMs !== undefined) {
      const leftMs = call.startedAtMs + deadlineMs - this.startedAtMs;
      this.#cancelDeadline = gateway.clock.after(leftMs, () => this.end(deadlinePassed(deadlineMs)));
    }
    call.client.addListener(this);
  }

  get msSoFar(): number {
    return Math.round(this.gateway.clock.nowMs() - this.startedAtMs);
  }

  check(_nowMs: number): void {
    if (this.gateway.closing) this.end(shuttingDown());
  }

  clientDisconnected(): void {
    if (this.#finished || this.orphanedAtMs !== undefined) return;
    const { gateway, orphans } = this;
    if (!this.isAtWork || gateway.closing || gateway[orphans] >= MAX_ORPHANS[orphans]) {
      this.end(new ClientDisconnectedError());
      return;
    }
    gateway[orphans]++;
    this.orphanedAtMs = gateway.clock.nowMs();
  }

  /** The provider's work ends as at the caller's deadline. */
  callStopped(reason: StoppedError): void {
    if (!this.#finished) this.end(reason);
  }

  /** Ends the provider's work before its time, for this reason. */
  protected abstract end(reason: GatewayError): void;

  /** Ends the provider's work, finished or not. */
  abstract close(): void;

  whenEnded(run: () => void): void {
    if (this.#finished) run();
    else this.#whenEnded = run;
  }

  /** Nothing is left to end. */
  finish(): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#whenEnded?.();
    this.gateway.watchdog.unwatch(this);
    this.#cancelDeadline?.();
    this.call.client.removeListener(this);
    if (this.orphanedAtMs !== undefined) this.gateway[this.orphans]--;
  }
}
