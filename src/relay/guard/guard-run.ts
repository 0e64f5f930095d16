import type { JsonObject } from "../../base/json.ts";
import type { GuardVerdict } from "../../canon/guard/guard-verdict.ts";
import { GuardTally } from "../../guards/guard-tally.ts";
import type { GuardsInForce } from "../../guards/guards.ts";

const NOT_REACHED = "the call ended before it ran";
const SEEN_BEFORE = "the response is a stored one, which was checked when it was made";
const NO_RESPONSE = "there was no response to check";

/** What the guards of one call have found. */
export class GuardRun {
  readonly inForce: GuardsInForce;
  readonly request: GuardTally;
  /** By attempt: a hedged call may have two responses. */
  readonly #responses = new Map<object, GuardTally>();
  #withoutResponse = NO_RESPONSE;
  readonly #held = new Map<object, JsonObject>();

  constructor(inForce: GuardsInForce) {
    this.inForce = inForce;
    this.request = new GuardTally("request", namesOf(inForce.request), NOT_REACHED);
  }

  /** For the response of an attempt. */
  response(attempt: object): GuardTally {
    const tally = new GuardTally("response", namesOf(this.inForce.response), NOT_REACHED);
    this.#responses.set(attempt, tally);
    return tally;
  }

  /** A stored response answers the call. */
  repeats(): void {
    this.#withoutResponse = SEEN_BEFORE;
  }

  /** Takes a response that will be stored, until the guards have seen it. */
  hold(attempt: object, answer: JsonObject): void {
    if (!this.#held.has(attempt)) this.#held.set(attempt, answer);
  }

  takeHeld(attempt: object): JsonObject | undefined {
    const held = this.#held.get(attempt);
    this.#held.delete(attempt);
    return held;
  }

  /** Of the request and of the response of the attempt that answered. */
  verdicts(attempt: object | undefined): GuardVerdict[] {
    const made = attempt === undefined ? undefined : this.#responses.get(attempt);
    const response = made ?? new GuardTally("response", namesOf(this.inForce.response), this.#withoutResponse);
    return [...this.request.verdicts, ...response.verdicts];
  }

  /** Whether a guard has changed or stopped the request or the response. */
  hasChanged(attempt: object | undefined): boolean {
    return this.verdicts(attempt).some(({ verdict }) => verdict === "redacted" || verdict === "blocked");
  }
}

const namesOf = (guards: GuardsInForce["request"]): string[] => guards.map(({ settings }) => settings.name);
