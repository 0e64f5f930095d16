import type { Principal } from "../../access/principal.ts";
import type { JsonObject } from "../../base/json.ts";
import type { GuardVerdict } from "../../canon/guard/guard-verdict.ts";
import { GuardTally } from "../../guards/guard-tally.ts";
import type { Guards, GuardsInForce } from "../../guards/guards.ts";
import type { StreamGuard } from "../../guards/stream/stream-guard.ts";

const NOT_REACHED = "the call ended before it ran";
const SEEN_BEFORE = "the response is a stored one, which was checked when it was made";
const NO_RESPONSE = "there was no response to check";

/** The guards of a call to any of these models; undefined if none look at it. Nothing looks at the questions of guards themselves. */
export function beginGuards(
  { cause }: { readonly cause?: { readonly kind: string; readonly seen: SeenTexts } | undefined },
  principal: Principal,
  models: readonly string[],
  { snapshot }: { readonly snapshot: { readonly guards?: Guards | undefined } },
): GuardRun | undefined {
  const inForce = cause?.kind === "check" ? undefined : snapshot.guards?.inForce(principal, models);
  return inForce && new GuardRun(inForce, cause?.seen);
}

/** What guards have seen of one call, and of the calls that the gateway made for it. Each sees every text once. */
export class SeenTexts {
  /** By guard: what became of each text. */
  readonly #by = new Map<string, Map<string, string>>();
  /** A guard has blocked something: nothing else is tried. */
  hasBlocked = false;

  /** Nothing else will be shown. A stream may stay open for long. */
  clear(): void {
    this.#by.clear();
  }

  /** What a guard has left of a text; undefined if it has not seen it. */
  find(guard: string, text: string): string | undefined {
    return this.#by.get(guard)?.get(text);
  }

  add(guard: string, text: string, left: string): void {
    const known = this.#by.get(guard) ?? new Map<string, string>();
    this.#by.set(guard, known.set(text, left).set(left, left));
  }
}

/** What the guards of one call have found. */
export class GuardRun {
  readonly inForce: GuardsInForce;
  readonly request: GuardTally;
  /** By attempt: a hedged call may have two responses. */
  readonly #responses = new Map<object, GuardTally>();
  #withoutResponse = NO_RESPONSE;
  readonly #held = new Map<object, JsonObject>();
  readonly #streams = new Map<object, StreamGuard>();
  #continues: object | undefined;
  readonly seen: SeenTexts;
  /** The request as it is sent, if guards have changed it. */
  left: string | undefined;

  constructor(inForce: GuardsInForce, seen = new SeenTexts()) {
    this.inForce = inForce;
    this.seen = seen;
    this.request = new GuardTally("request", namesOf(inForce.request), NOT_REACHED);
  }

  /** The next attempts go on with the response of this one, so that guards see one text. Undefined: they begin anew. */
  set continues(attempt: object | undefined) {
    this.#continues = attempt;
  }

  /** The guard on the stream of an attempt. */
  stream(attempt: object, make: (tally: GuardTally) => StreamGuard): StreamGuard {
    const before = this.#continues;
    const tally = before && this.#responses.get(before);
    const known = before && this.#streams.get(before);
    if (tally !== undefined) this.#responses.set(attempt, tally);
    const stream = known ?? make(this.response(attempt));
    this.#streams.set(attempt, stream);
    return stream;
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

  /** Whether a guard has changed the request. */
  get hasEdited(): boolean {
    return this.request.verdicts.some(({ verdict }) => verdict === "redacted");
  }

  /** Whether a guard has changed or stopped the request or the response. */
  hasChanged(attempt: object | undefined): boolean {
    return this.verdicts(attempt).some(({ verdict }) => verdict === "redacted" || verdict === "blocked");
  }
}

const namesOf = (guards: GuardsInForce["request"]): string[] => guards.map(({ settings }) => settings.name);
