import type { ServedConnection } from "../src/server/request-handler.ts";
import type { VirtualClock } from "../testing/virtual-clock.ts";
import type { CallBook } from "./book.ts";
import { KEYS, secretOf } from "./configuration.ts";
import { readWhole } from "./read-answer.ts";
import { GATEWAY_URL } from "./requests.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

interface Kept {
  book: CallBook;
  id: string;
  /** How many responses it builds on. */
  turns: number;
  /** The store was healthy when it was stored, so it must exist. */
  isCertain: boolean;
}

/** Conversations are bounded: each turn sends all previous ones. */
const MAX_TURNS = 4;
/** How many are checked at the end. */
const MAX_LOOKED_AT = 60;

const CONNECTION: ServedConnection = {
  address: "127.0.0.1",
  trusted: false,
  held: false,
  hold: () => {},
  rest: () => {},
  hangUp: () => {},
};

/** The responses that clients asked to store, as those clients know them. */
export class KeptAnswers {
  readonly #byKey = new Map<string, Kept[]>();
  readonly #turnsOf = new Map<number, number>();

  /** A response of the key that the next one may build on. */
  next({ id, key, builds }: CallBook["plan"]): string | undefined {
    const found = builds
      ? this.#byKey.get(key)?.findLast((kept) => kept.isCertain && kept.turns < MAX_TURNS)
      : undefined;
    if (found !== undefined) this.#turnsOf.set(id, found.turns + 1);
    return found?.id;
  }

  ended(book: CallBook, id: string | undefined, isCertain: boolean): void {
    const { plan, ending } = book;
    if (plan.store !== true || ending !== "whole" || id === undefined) return;
    const kept = { book, id, turns: this.#turnsOf.get(plan.id) ?? 0, isCertain };
    this.#byKey.set(plan.key, [...(this.#byKey.get(plan.key) ?? []), kept]);
  }

  /** Clients can read exactly what they received, and no other client can. */
  async check(
    process: SimulatedProcess,
    clock: VirtualClock,
    onViolation: (rule: string, what: string, book: CallBook) => void,
  ): Promise<void> {
    const look = async (id: string, key: string) => {
      const headers = { authorization: `Bearer ${secretOf(key)}`, host: "127.0.0.1:8080" };
      const response = await process.handle(new Request(`${GATEWAY_URL}/v1/responses/${id}`, { headers }), CONNECTION);
      return { status: response.status, text: await response.text() };
    };
    const names = Object.keys(KEYS);
    for (const [key, all] of this.#byKey) {
      for (const { book, id, isCertain } of all.slice(-MAX_LOOKED_AT)) {
        const own = await clock.until(look(id, key));
        if (own.status !== 200 && isCertain) onViolation("stored responses can be read", `HTTP ${own.status}`, book);
        if (own.status === 200 && readWhole("responses", 200, own.text).text !== book.text)
          onViolation("stored responses match what was sent", own.text.slice(0, 200), book);
        const stranger = names[(names.indexOf(key) + 1) % names.length] ?? key;
        const others = await clock.until(look(id, stranger));
        if (others.status !== 404) onViolation("stored responses belong to one project", `HTTP ${others.status}`, book);
      }
    }
  }
}
