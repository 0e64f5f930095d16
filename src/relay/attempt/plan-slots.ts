import type { GatewayError } from "../../canon/error.ts";
import type { Offer } from "../../catalogue/model.ts";
import type { Target } from "../../routing/target.ts";
import { ClientDisconnectedError } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import type { AttemptedCall, OfferAttempt } from "./attempted-call.ts";

/**
 * The targets of a plan whose providers limit concurrent requests. The next target is the first one left with a free slot. If there
 * is none, the call waits for any of them.
 */
export class PlanSlots<Planned extends Target> {
  readonly #call: AttemptedCall;
  readonly #gateway: Gateway;
  readonly #left: Planned[];

  constructor(call: AttemptedCall, gateway: Gateway, plan: readonly Planned[]) {
    this.#call = call;
    this.#gateway = gateway;
    this.#left = [...plan];
  }

  /**
   * The next target with a slot, or the same one for a second attempt. `withinMs` limits the wait. If it expires, an earlier
   * failure is more useful than reporting that all are busy.
   */
  async take(
    again: Planned | undefined,
    withinMs: number,
    failure: GatewayError | undefined,
  ): Promise<Planned | undefined> {
    const { slots, snapshot } = this.#gateway;
    const wanted = again === undefined ? this.#left : [again];
    if (wanted.length === 0) return undefined;
    const free = wanted.find((target) => slots.take(target.offer.provider, snapshot.routing, this.#isLine));
    // Do not wait for a second attempt while another offer may answer.
    if (free === undefined && again !== undefined && this.#left.length > 0) return undefined;
    const target = free ?? (await this.#wait(wanted, withinMs, failure));
    if (again === undefined) this.#left.splice(this.#left.indexOf(target), 1);
    return target;
  }

  /** Calls of clients come before lines of batches. */
  get #isLine(): boolean {
    return this.#call.incoming?.line !== undefined;
  }

  async #wait(wanted: readonly Planned[], withinMs: number, failure: GatewayError | undefined): Promise<Planned> {
    this.#call.timer?.to("queue");
    const waiting = this.#gateway.slots.wait({
      providers: wanted.map((target) => target.offer.provider),
      keyId: this.#call.principal?.keyId ?? "",
      limits: this.#gateway.snapshot.routing,
      withinMs,
      disconnection: this.#call.client.disconnection,
      isBelow: this.#isLine,
    });
    const provider = await waiting
      .catch((busy: unknown) => {
        throw failure ?? busy;
      })
      .finally(() => this.#call.timer?.to("gateway"));
    const target = wanted.find(({ offer }) => offer.provider === provider);
    if (target === undefined) throw this.#call.client.stopped ?? new ClientDisconnectedError();
    return target;
  }

  /** Removes all targets of an offer that failed. */
  skip(failed: Offer): void {
    for (let index = this.#left.length - 1; index >= 0; index--) {
      if (this.#left[index]?.offer === failed) this.#left.splice(index, 1);
    }
  }

  /** Frees the slot of a target to which nothing is sent. Its offer is not tried any more. */
  giveUp({ offer }: Planned): void {
    this.#gateway.slots.free(offer.provider);
    this.skip(offer);
  }

  /** Begins an attempt on the slot that was taken. */
  begin<Attempt>(target: Planned, begin: (target: Planned) => Attempt): Attempt {
    try {
      return begin(target);
    } catch (thrown) {
      this.#gateway.slots.free(target.offer.provider);
      throw thrown;
    }
  }

  /** Frees the slot when the attempt ends, which may be long after its first content. */
  freeAfter(attempt: OfferAttempt, { offer: { provider } }: Planned): void {
    const free = () => this.#gateway.slots.free(provider);
    if (attempt.whenEnded === undefined) free();
    else attempt.whenEnded(free);
  }
}
