import type { Reservation } from "../../access/admit.ts";
import { GatewayError } from "../../canon/error.ts";
import type { TextTarget } from "../../routing/target.ts";
import { type BilledLeg, type Call, ClientDisconnectedError, EndedError } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { billFailed, billUnfinished } from "../settle/bill-leg.ts";
import { type Attempt, beginAttempt } from "./attempt.ts";
import type { AttemptedCall } from "./attempted-call.ts";
import { mayTryAgain, tryOffers } from "./try-offers.ts";

/** How long the first offer has before it is measured: to the first content of a stream, or to a whole response. */
const DEFAULT_STREAM_MS = 2_000;
const DEFAULT_WHOLE_MS = 15_000;
/** The shortest wait before a second offer is tried. */
const MIN_MS = 50;

/**
 * Tries the offers of a plan in order and, if the call is hedged, a second one while the first is slow to start. `discard` releases
 * a result that arrived too late.
 */
export function tryPlan<T>(
  call: Call,
  gateway: Gateway,
  plan: readonly TextTarget[],
  use: (attempt: Attempt) => Promise<T>,
  discard?: (result: T) => void,
): Promise<T> {
  const hedges =
    call.routing.hedge && plan.length > 1 && call.routing.maxAttempts > 1 && call.incoming.verb === "generate";
  if (hedges) return new Race(call, gateway, plan, use, discard).run();
  return tryOffers(call, gateway, plan, beginAttempt(call, gateway), use);
}

/** How long a response waits for the losing attempt to end, so that its row covers both. */
const STOP_MS = 100;

/** One of the two competing attempts. */
interface Runner<T> {
  attempted: AttemptedCall<Attempt>;
  stop: () => void;
  outcome: Promise<{ result: T } | { error: unknown }>;
}

/**
 * Races the first offer of a plan against the others when it takes longer than nearly all of its earlier responses. The first
 * content wins. The loser is stopped, and its work so far is billed and recorded in the row (H14).
 */
class Race<T> {
  readonly #call: Call;
  readonly #gateway: Gateway;
  readonly #plan: readonly TextTarget[];
  readonly #use: (attempt: Attempt) => Promise<T>;
  readonly #discard: ((result: T) => void) | undefined;

  constructor(
    call: Call,
    gateway: Gateway,
    plan: readonly TextTarget[],
    use: (attempt: Attempt) => Promise<T>,
    discard: ((result: T) => void) | undefined,
  ) {
    this.#call = call;
    this.#gateway = gateway;
    this.#plan = plan;
    this.#use = use;
    this.#discard = discard;
  }

  async run(): Promise<T> {
    const { latest } = this.#call.admission;
    const first = this.#start(this.#plan.slice(0, 1), latest);
    const slow = Promise.withResolvers<undefined>();
    const cancel = this.#gateway.clock.after(this.#firstWaitMs, () => slow.resolve(undefined));
    const early = await Promise.race([first.outcome, slow.promise]);
    cancel();
    const others = this.#plan.slice(1);
    const another = early === undefined ? this.#reserveAnother() : undefined;
    if (another !== undefined) {
      this.#call.hedged = true;
      return await this.#between(first, this.#start(others, another));
    }
    const outcome = early ?? (await first.outcome);
    if ("result" in outcome) return this.#won(first, outcome.result);
    if (!this.#mayAskOthers(outcome.error)) throw this.#lost(first, outcome.error);
    return await this.#last(this.#start(others, latest));
  }

  /** Both attempts are billed, so the key must have enough budget left for another. */
  #reserveAnother(): Reservation | undefined {
    const { client, admission } = this.#call;
    const mayHedge = !this.#gateway.closing && !client.disconnected && client.stopped === undefined;
    return mayHedge ? admission.extend() : undefined;
  }

  /** The first to answer wins. If one fails, the other counts. */
  async #between(first: Runner<T>, second: Runner<T>): Promise<T> {
    this.#call.outrunOthers = (winner) => {
      for (const runner of [first, second]) if (runner.attempted.attempt !== winner) this.#outrun(runner);
    };
    const faster = await Promise.race([
      first.outcome.then((outcome) => ({ outcome, runner: first, other: second })),
      second.outcome.then((outcome) => ({ outcome, runner: second, other: first })),
    ]);
    const { outcome, runner, other } = faster;
    if ("result" in outcome) {
      await this.#stop(other);
      return this.#won(runner, outcome.result);
    }
    // A mistake of the client is final, but only if the first offer reports it. A provider that reports usage has accepted the
    // request.
    const isFinal =
      runner === first && !this.#mayAskOthers(outcome.error) && !isEnd(outcome.error) && !isPaid(outcome.error);
    if (isFinal) {
      await this.#stop(other);
      throw this.#lost(runner, outcome.error);
    }
    const later = await other.outcome;
    if ("result" in later) {
      this.#billFailed(runner, outcome.error);
      return this.#won(other, later.result);
    }
    if (isEnd(outcome.error) && isEnd(later.error)) this.#bill(runner);
    // As if the second had been tried after the first: the last error counts, unless the first left no choice.
    if (runner === second && !isEnd(outcome.error) && this.#mayTryAgain(later.error))
      throw this.#lost(runner, outcome.error);
    this.#billFailed(runner, outcome.error);
    throw this.#lost(other, later.error);
  }

  async #last(runner: Runner<T>): Promise<T> {
    const outcome = await runner.outcome;
    if ("result" in outcome) return this.#won(runner, outcome.result);
    throw this.#lost(runner, outcome.error);
  }

  #start(plan: readonly TextTarget[], admission: Reservation): Runner<T> {
    const call = this.#call;
    const { offersTried, startedAtMs, incoming, principal, routing, client, conversation } = call;
    const stopping = Promise.withResolvers<void>();
    let stopped = false;
    const attempted: AttemptedCall<Attempt> = {
      offersTried,
      startedAtMs,
      // While two offers are working, the pauses of one are working time of the other.
      get timer() {
        return call.hedged ? undefined : call.timer;
      },
      incoming,
      principal,
      routing,
      conversation,
      admission,
      attempt: undefined,
      // A stopped attempt sees its client as disconnected.
      client: {
        get disconnected() {
          return stopped || client.disconnected;
        },
        get stopped() {
          return client.stopped;
        },
        get disconnection() {
          return Promise.race([client.disconnection, stopping.promise]);
        },
      },
    };
    const stop = () => {
      stopped = true;
      stopping.resolve();
    };
    const begin = beginAttempt(this.#call, this.#gateway);
    const outcome = tryOffers(attempted, this.#gateway, plan, begin, this.#use).then(
      (result) => ({ result }),
      (error: unknown) => ({ error }),
    );
    return { attempted, outcome, stop };
  }

  #won({ attempted }: Runner<T>, result: T): T {
    this.#call.timer.to("gateway");
    this.#call.attempt = attempted.attempt;
    return result;
  }

  #lost({ attempted }: Runner<T>, error: unknown): unknown {
    this.#call.timer.to("gateway");
    this.#call.attempt = attempted.attempt;
    return error;
  }

  /** Stops the slower attempt and waits briefly for its end: it may have answered at the same moment. */
  async #stop(runner: Runner<T>): Promise<void> {
    const wasAtWork = this.#outrun(runner);
    const over = runner.outcome.then((outcome) => {
      if ("result" in outcome) this.#discard?.(outcome.result);
      else if (!wasAtWork) this.#billFailed(runner, outcome.error);
    });
    await Promise.race([over, this.#gateway.clock.sleep(STOP_MS)]);
  }

  /** Returns true if its provider was at work, which is billed. */
  #outrun(runner: Runner<T>): boolean {
    runner.stop();
    const wasAtWork = runner.attempted.attempt?.outrun() === true;
    if (wasAtWork) this.#bill(runner);
    return wasAtWork;
  }

  /** Billed as for a client that leaves before the first content: what may have been generated (H26). */
  #bill({ attempted: { attempt } }: Runner<T>): void {
    if (attempt !== undefined) this.#addLegs(billUnfinished(this.#call, this.#gateway, attempt));
  }

  /** An attempt that failed on its own is billed by what its provider reports, usually nothing. */
  #billFailed({ attempted: { attempt } }: Runner<T>, error: unknown): void {
    if (attempt !== undefined) this.#addLegs(billFailed(this.#call, this.#gateway, attempt, error));
  }

  #addLegs(legs: readonly BilledLeg[]): void {
    if (legs.length > 0) this.#call.otherLegs = [...(this.#call.otherLegs ?? []), ...legs];
  }

  /** The first offer's own p95 to its first content, where enough of its streams were measured. */
  get #firstWaitMs(): number {
    const [first] = this.#plan;
    if (!this.#call.stream) return DEFAULT_WHOLE_MS;
    const measuredMs = first && this.#gateway.health.p95FirstContentMs(first);
    return Math.max(MIN_MS, measuredMs ?? DEFAULT_STREAM_MS);
  }

  #mayAskOthers(error: unknown): boolean {
    return this.#mayTryAgain(error) && this.#call.offersTried.length < this.#call.routing.maxAttempts;
  }

  #mayTryAgain(error: unknown): boolean {
    return error instanceof GatewayError && !isEnd(error) && mayTryAgain(error, this.#gateway);
  }
}

/** The call was ended, but not by its offers. */
const isEnd = (error: unknown): boolean => error instanceof EndedError || error instanceof ClientDisconnectedError;

/** Its provider reports what it has used. */
const isPaid = (error: unknown): boolean => error instanceof GatewayError && error.failure?.usage !== undefined;
