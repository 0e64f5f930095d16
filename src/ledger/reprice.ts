import { createHash } from "node:crypto";
import { RECEIPT_PREFIX, timePrefix } from "../base/timed-id.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import type { Receipt } from "../canon/receipt.ts";
import { type Corrections, selectCorrections, selectReceiptRange } from "../storage/receipts/receipt-range.ts";
import { insertReceipts } from "../storage/receipts/receipts.ts";
import type { Storage } from "../storage/storage.ts";
import { selectPrices } from "../storage/tables/prices.ts";

/** The cost of a receipt at other prices, or why it cannot be computed. */
type PricedAgain = Pick<Receipt, "costNanoUsd" | "priceRule" | "pricedBy"> | { skipped: string };

interface Repricing {
  fromMs: number;
  /** Exclusive. */
  untilMs: number;
  project?: string | undefined;
  isWanted: (receipt: Receipt) => boolean;
  priceAgain: (receipt: Receipt, textOf: (pricesId: string) => string | undefined) => PricedAgain;
  /** Reports what would be written. */
  dryRun: boolean;
}

interface RepricedModel {
  model: string;
  corrected: number;
  differenceNanoUsd: number;
}

export interface Repriced {
  /** Receipts that were checked. */
  receipts: number;
  corrected: number;
  differenceNanoUsd: number;
  models: RepricedModel[];
  /** How many could not be repriced, by reason. */
  skipped: Record<string, number>;
}

const PAGE = 500;
const NO_CORRECTIONS: Corrections = { count: 0, costNanoUsd: 0 };

/**
 * Corrects the cost of calls with separate rows: a receipt is never changed. A correction is the difference to the
 * receipt and its earlier corrections, so a second run finds nothing to do. Its id is derived from what it corrects,
 * so two concurrent runs write it once.
 */
export async function reprice(storage: Storage, repricing: Repricing): Promise<Repriced> {
  const tally = new Tally();
  const texts = new KeptTexts(storage);
  let after: string | undefined;
  for (;;) {
    const { fromMs, untilMs, project } = repricing;
    const page = await selectReceiptRange(storage, { fromMs, untilMs, project, after, limit: PAGE });
    const corrections = await repricePage(storage, page.filter(repricing.isWanted), repricing, texts, tally);
    if (!repricing.dryRun) await insertReceipts(storage, corrections);
    after = page.at(-1)?.id;
    if (after === undefined || page.length < PAGE) return tally.result();
  }
}

async function repricePage(
  storage: Storage,
  receipts: readonly Receipt[],
  { priceAgain }: Repricing,
  texts: KeptTexts,
  tally: Tally,
): Promise<Receipt[]> {
  if (receipts.length === 0) return [];
  const times = receipts.map(({ createdAtMs }) => createdAtMs);
  const known = await selectCorrections(storage, { fromMs: Math.min(...times), toMs: Math.max(...times) });
  await texts.read(receipts);
  return receipts.flatMap((receipt) => {
    const again = priceAgain(receipt, texts.of);
    if ("skipped" in again) {
      tally.skip(again.skipped);
      return [];
    }
    const before = known.get(receipt.id) ?? NO_CORRECTIONS;
    const difference = again.costNanoUsd - receipt.costNanoUsd - before.costNanoUsd;
    tally.count(receipt.model, difference);
    return difference === 0 ? [] : [correctionOf(receipt, { ...again, costNanoUsd: difference }, before.count)];
  });
}

/** It belongs to the day and month of its call, and so do the budgets that count it. */
function correctionOf(receipt: Receipt, again: Exclude<PricedAgain, { skipped: string }>, earlier: number): Receipt {
  const { project, key, createdAtMs, model, provider, upstreamModel, verb, clientDialect, upstreamDialect } = receipt;
  const what = JSON.stringify([receipt.id, earlier, again.costNanoUsd, again.priceRule]);
  const digest = createHash("sha256").update(what).digest("hex").slice(0, 24);
  return withoutAbsent({
    id: `${RECEIPT_PREFIX}${timePrefix(createdAtMs)}${digest}`,
    adjusts: receipt.id,
    project,
    key,
    createdAtMs,
    model,
    provider,
    upstreamModel,
    verb,
    clientDialect,
    upstreamDialect,
    lane: receipt.lane,
    stream: receipt.stream,
    outcome: receipt.outcome,
    offers: [],
    fields: [],
    usage: {},
    usageSource: receipt.usageSource,
    totalMs: 0,
    batch: receipt.batch,
    tags: receipt.tags,
    endUser: receipt.endUser,
    ...again,
  });
}

/** The texts of stored prices, each read once. */
class KeptTexts {
  readonly #storage: Storage;
  readonly #texts = new Map<string, string | undefined>();
  readonly of = (id: string): string | undefined => this.#texts.get(id);

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  async read(receipts: readonly Receipt[]): Promise<void> {
    for (const { pricedBy } of receipts) {
      if (pricedBy === undefined) continue;
      const ids = "id" in pricedBy ? [pricedBy.id] : pricedBy.map(({ prices }) => prices.id);
      for (const id of ids) if (!this.#texts.has(id)) this.#texts.set(id, await selectPrices(this.#storage, id));
    }
  }
}

class Tally {
  #receipts = 0;
  readonly #models = new Map<string, RepricedModel>();
  readonly #skipped = new Map<string, number>();

  skip(reason: string): void {
    this.#receipts++;
    this.#skipped.set(reason, (this.#skipped.get(reason) ?? 0) + 1);
  }

  count(model: string, differenceNanoUsd: number): void {
    this.#receipts++;
    if (differenceNanoUsd === 0) return;
    const sum = this.#models.get(model) ?? { model, corrected: 0, differenceNanoUsd: 0 };
    sum.corrected++;
    sum.differenceNanoUsd += differenceNanoUsd;
    this.#models.set(model, sum);
  }

  result(): Repriced {
    const models = [...this.#models.values()].toSorted((one, other) => (one.model < other.model ? -1 : 1));
    return {
      receipts: this.#receipts,
      corrected: models.reduce((sum, { corrected }) => sum + corrected, 0),
      differenceNanoUsd: models.reduce((sum, { differenceNanoUsd }) => sum + differenceNanoUsd, 0),
      models,
      skipped: Object.fromEntries(this.#skipped),
    };
  }
}
