import type { Receipt } from "../../canon/receipt.ts";
import { number } from "../columns.ts";
import type { Parameter, Queries, Storage } from "../storage.ts";
import { pricesIdOf, word } from "./receipt-columns.ts";

/** More than most gateways ever have; a dropped entry is only looked up again. */
const MAX_KNOWN = 20_000;

/** The values of a receipt that many others share, and their number in SQLite. */
interface Kind {
  number: number;
  words: Receipt;
}

/** The kinds and writers that are known to be stored, which rows of receipts refer to in SQLite. */
class ReceiptKinds {
  readonly #byModel = new Map<string, Kind[]>();
  readonly #writers = new Map<string, number>();
  #known = 0;
  /** Consecutive calls are often alike. */
  #last: Kind | undefined;

  /** Undefined if it is not known. */
  numberOf(receipt: Receipt): number | undefined {
    if (this.#last !== undefined && areAlike(this.#last.words, receipt)) return this.#last.number;
    for (const kind of this.#byModel.get(`${receipt.key} ${receipt.model}`) ?? []) {
      if (!areAlike(kind.words, receipt)) continue;
      this.#last = kind;
      return kind.number;
    }
    return undefined;
  }

  writerOf({ instance }: Receipt): number | null | undefined {
    return instance === undefined ? null : this.#writers.get(instance);
  }

  /** Stores the kind and the writer of a receipt before the receipt: an unused row does no harm. */
  async keep(storage: Storage, receipt: Receipt): Promise<{ kind: number; writer: number | null }> {
    const kind = await findOrAddKind(storage, receipt);
    const writer = await findOrAddWriter(storage, receipt);
    this.#learn(receipt, kind);
    if (receipt.instance !== undefined && writer !== null) this.#writers.set(receipt.instance, writer);
    return { kind, writer };
  }

  #learn(words: Receipt, number: number): void {
    if (this.#known >= MAX_KNOWN) this.#byModel.clear();
    this.#known = this.#known >= MAX_KNOWN ? 1 : this.#known + 1;
    const name = `${words.key} ${words.model}`;
    const kinds = this.#byModel.get(name);
    const kind = { words, number };
    if (kinds === undefined) this.#byModel.set(name, [kind]);
    else kinds.push(kind);
  }
}

const kinds = new WeakMap<Storage, ReceiptKinds>();

export function kindsOf(storage: Storage): ReceiptKinds {
  let known = kinds.get(storage);
  if (known === undefined) {
    known = new ReceiptKinds();
    kinds.set(storage, known);
  }
  return known;
}

const areAlike = (one: Receipt, other: Receipt): boolean =>
  one.key === other.key &&
  one.model === other.model &&
  one.outcome === other.outcome &&
  one.stream === other.stream &&
  one.provider === other.provider &&
  one.upstreamModel === other.upstreamModel &&
  one.priceRule === other.priceRule &&
  pricesIdOf(one) === pricesIdOf(other) &&
  one.stop?.raw === other.stop?.raw &&
  one.stop?.unified === other.stop?.unified &&
  one.clientDialect === other.clientDialect &&
  one.upstreamDialect === other.upstreamDialect &&
  one.lane === other.lane &&
  one.verb === other.verb &&
  one.usageSource === other.usageSource &&
  one.project === other.project;

const wordsOf = (receipt: Receipt): Record<string, Parameter> => ({
  project: word(receipt.project) ?? "",
  key_id: word(receipt.key) ?? "",
  model: word(receipt.model) ?? "",
  provider: word(receipt.provider) ?? "",
  upstream_model: word(receipt.upstreamModel) ?? "",
  verb: word(receipt.verb) ?? "",
  client_dialect: word(receipt.clientDialect) ?? "",
  upstream_dialect: word(receipt.upstreamDialect) ?? "",
  lane: word(receipt.lane) ?? "",
  stream: receipt.stream ? 1 : 0,
  outcome: word(receipt.outcome) ?? "",
  stop_unified: word(receipt.stop?.unified),
  stop_raw: word(receipt.stop?.raw),
  usage_source: word(receipt.usageSource) ?? "",
  price_rule: word(receipt.priceRule) ?? "",
  priced_by: word(pricesIdOf(receipt)),
});

/** Two processes may add the same kind at once: then it has two numbers, and either works. */
export async function findOrAddKind(queries: Queries, receipt: Receipt): Promise<number> {
  const words = wordsOf(receipt);
  const names = Object.keys(words);
  const values = Object.values(words);
  const [found] = await queries.query(
    `SELECT id FROM receipt_kinds WHERE ${names.map((name) => `${name} IS ?`).join(" AND ")} LIMIT 1`,
    values,
  );
  if (found !== undefined) return number(found, "id");
  const [added] = await queries.query(
    `INSERT INTO receipt_kinds (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")}) RETURNING id`,
    values,
  );
  return number(added ?? {}, "id");
}

/** Null if the receipt does not name its writer. */
export async function findOrAddWriter(queries: Queries, { instance }: Receipt): Promise<number | null> {
  if (instance === undefined) return null;
  await queries.query("INSERT INTO receipt_writers (instance) VALUES (?) ON CONFLICT (instance) DO NOTHING", [
    instance,
  ]);
  const [row] = await queries.query("SELECT id FROM receipt_writers WHERE instance = ?", [instance]);
  return number(row ?? {}, "id");
}
