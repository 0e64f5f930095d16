import type { Admission } from "../access/admit.ts";
import type { Principal } from "../access/principal.ts";
import type { OfferTried } from "../canon/receipt.ts";
import type { Model } from "../catalogue/model.ts";
import type { Target } from "../routing/target.ts";
import type { CallTimer } from "./settle/call-timer.ts";

/** The `runningIndex` of a call that is not listed. */
export const NOT_RUNNING = -1;

/** The part of a call that stays the same object while it runs. */
interface RunningClient {
  /** Its index in the list, set only by the list. */
  runningIndex: number;
  readonly stopped: object | undefined;
  /** What works on the call. */
  readonly listeners: readonly { readonly target?: Target; readonly contentSoFar?: number | undefined }[];
  stop(who: string): void;
}

/** What a call is, for operators. The object that every call has anyway. */
export interface RunningCall {
  readonly receiptId: string;
  readonly principal: Principal;
  readonly admission: Admission;
  readonly model: Model;
  readonly stream: boolean;
  readonly startedAtMs: number;
  readonly timer: CallTimer;
  readonly incoming: {
    readonly requestId: string;
    readonly dialect: { readonly name: string };
    readonly connection: { readonly session?: string | undefined };
    readonly line?: { readonly batch: { readonly id: string } } | undefined;
  };
  readonly offersTried: readonly OfferTried[];
  readonly client: RunningClient;
  /** The kind of request, as in its receipt. */
  readonly verb: string;
  readonly attempt: { readonly target: Target | undefined } | undefined;
  /** It ends only with its live session. */
  readonly endsWithSession?: boolean;
}

/**
 * The calls of this process that were admitted and are not settled, without videos. A call costs two changes of an array, and is
 * described only when an operator asks.
 */
export class RunningCalls {
  readonly #calls: RunningCall[] = [];

  add(call: RunningCall): void {
    call.client.runningIndex = this.#calls.length;
    this.#calls.push(call);
  }

  /** The same call, described by another object, or with another client. */
  replace({ runningIndex }: RunningClient, call: RunningCall): void {
    if (runningIndex === NOT_RUNNING) return;
    this.#calls[runningIndex] = call;
    call.client.runningIndex = runningIndex;
  }

  /** The last call takes its place. Safe for a call that is not listed. */
  remove(client: RunningClient): void {
    const index = client.runningIndex;
    if (index === NOT_RUNNING) return;
    const last = this.#calls.pop();
    if (last !== undefined && last.client !== client) {
      this.#calls[index] = last;
      last.client.runningIndex = index;
    }
    client.runningIndex = NOT_RUNNING;
  }

  find(receiptId: string): RunningCall | undefined {
    return this.#calls.find((call) => call.receiptId === receiptId);
  }

  list(): readonly RunningCall[] {
    return this.#calls;
  }
}
