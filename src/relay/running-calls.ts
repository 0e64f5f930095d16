import type { OfferTried } from "../canon/receipt.ts";
import { type AttemptRecord, type Call, type ClientPresence, type IncomingRequest, NOT_RUNNING } from "./call.ts";

/** What a call is, for operators. The object that every call has anyway. */
export interface RunningCall
  extends Pick<Call, "receiptId" | "principal" | "admission" | "model" | "stream" | "startedAtMs" | "timer"> {
  readonly incoming: Pick<IncomingRequest, "requestId" | "dialect" | "connection" | "line">;
  readonly offersTried: readonly OfferTried[];
  readonly client: ClientPresence;
  /** The kind of request, as in its receipt. */
  readonly verb: string;
  readonly attempt: AttemptRecord | undefined;
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
  replace({ runningIndex }: ClientPresence, call: RunningCall): void {
    if (runningIndex === NOT_RUNNING) return;
    this.#calls[runningIndex] = call;
    call.client.runningIndex = runningIndex;
  }

  /** The last call takes its place. Safe for a call that is not listed. */
  remove(client: ClientPresence): void {
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
