import { Database } from "bun:sqlite";
import { join } from "node:path";
import { staticKeyId } from "../../src/access/known-keys.ts";
import type { TestGateway } from "../support/test-gateway.ts";
import type { Outcome } from "./cheat.ts";

/** What a cheat has: its own key, and a name that the host finds in its prompts. */
export interface Purse {
  name: string;
  key: string;
}

/** What an upstream has charged to each purse, in nano-dollars. */
interface Books {
  billed(purse: string): number;
  requests(purse: string): number;
}

const MAX_PURSES = 600;
const QUIET_MS = 15_000;

export const keyOf = (name: string) => `sk-trv-${name.padEnd(43, "x")}`;

/** Keys for this many cheats, each in its own project. */
export const purseKeys = (limits: object | undefined): object[] =>
  Array.from({ length: MAX_PURSES }, (_, index) => ({
    name: `purse-${index}`,
    project: `project-${index}`,
    key: keyOf(`Purse${index}`),
    models: ["test/*"],
    ...(limits ? { limits } : {}),
  }));

/** Each cheat is identified by its purse, in the upstream's accounts and in the gateway's ledger. */
export class Purses {
  readonly #books: Books;
  readonly #gateway: TestGateway;
  #handedOut = 0;
  #seen = new Map<string, number>();

  constructor(books: Books, gateway: TestGateway) {
    this.#books = books;
    this.#gateway = gateway;
  }

  next(): Purse {
    const index = this.#handedOut++;
    if (index >= MAX_PURSES) throw new Error("there are no more purses");
    return { name: `purse-${index}`, key: keyOf(`Purse${index}`) };
  }

  /** Totals, once everything that the purse began has ended. */
  async outcome(purse: Purse, got: string, { rows = 1 }: { rows?: number } = {}): Promise<Outcome> {
    const deadline = Date.now() + QUIET_MS;
    for (;;) {
      const { count, cost } = this.#sumsOf(staticKeyId(purse.name));
      const sums = { got, upstream: this.#books.billed(purse.name), ledger: cost };
      if (count >= rows && !this.#isBusy(purse, count)) return sums;
      if (Date.now() > deadline) return { ...sums, broken: `${count} rows of ${rows}` };
      await Bun.sleep(20);
    }
  }

  /** The accounts may be updated shortly after the row: two readings must agree. */
  #isBusy(purse: Purse, rows: number): boolean {
    const seen = this.#books.billed(purse.name) + rows / 1_000;
    const before = this.#seen.get(purse.name);
    this.#seen.set(purse.name, seen);
    return before !== seen;
  }

  /** The ledger's amount for a key created by the operator, once its call is settled. */
  async spentBy(keyId: string): Promise<number> {
    for (const deadline = Date.now() + QUIET_MS; Date.now() < deadline; await Bun.sleep(20)) {
      const { count, cost } = this.#sumsOf(keyId);
      if (count > 0) return cost;
    }
    return 0;
  }

  #sumsOf(keyId: string): { count: number; cost: number } {
    const database = new Database(join(this.#gateway.folder, "data", "trivium.db"), { readonly: true });
    try {
      const query = "SELECT count(*) AS count, coalesce(sum(cost_nano_usd), 0) AS cost FROM receipts WHERE key_id = ?";
      return database.query(query).get(keyId) as { count: number; cost: number };
    } finally {
      database.close();
    }
  }
}
