import type { Clock } from "../base/clock.ts";
import type { Receipt } from "../canon/receipt.ts";
import type { Storage } from "../storage/storage.ts";
import { countUnpricedUse, deleteUnpricedUsesBefore, selectUnpricedUses } from "../storage/unpriced-uses.ts";

interface UnpricedUsesOptions {
  storage: Storage;
  clock: Clock;
  onProblem: (error: unknown) => void;
}

/** A use that is not repeated is forgotten after this. */
const KEPT_MS = 90 * 86_400_000;
/** What the gateway remembers of all keys, and how many writes may wait for the storage. */
const MAX_REMEMBERED = 10_000;
const MAX_WAITING = 100;

/**
 * What keys have used without a known price: by key, then by the tool or term of the request that it came from. Every process of a
 * gateway writes what it sees to the storage, and reads what others have seen.
 */
export class UnpricedUses {
  readonly #options: UnpricedUsesOptions;
  #byKey = new Map<string, Map<string, string[]>>();
  #remembered = 0;
  #waiting = 0;

  constructor(options: UnpricedUsesOptions) {
    this.#options = options;
  }

  /** What a key's requests for a tool or a term have come to that has no price. */
  blocked(keyId: string): ReadonlyMap<string, readonly string[]> | undefined {
    return this.#byKey.get(keyId);
  }

  /** Takes note of a call that could not be billed in full. `producedBy`: the tools and terms of its request. */
  note(receipt: Receipt, producedBy: readonly string[]): void {
    const { storage, onProblem } = this.#options;
    const { unpriced = [], key: keyId, project, model, provider, id: receiptId, createdAtMs: lastAtMs } = receipt;
    for (const name of unpriced) {
      for (const producer of producedBy.length === 0 ? [""] : producedBy) {
        this.#remember(keyId, producer, name);
        // The receipt says it all the same.
        if (this.#waiting >= MAX_WAITING) continue;
        this.#waiting++;
        countUnpricedUse(storage, { keyId, name, producedBy: producer, project, model, provider, receiptId, lastAtMs })
          .catch(onProblem)
          .finally(() => this.#waiting--);
      }
    }
  }

  /** Reads what is known. Never rejects. */
  async read(): Promise<void> {
    const { storage, clock, onProblem } = this.#options;
    try {
      const sinceMs = clock.wallMs() - KEPT_MS;
      for (const { keyId, producedBy, name } of await selectUnpricedUses(storage, { sinceMs, limit: MAX_REMEMBERED })) {
        this.#remember(keyId, producedBy, name);
      }
    } catch (error) {
      onProblem(error);
    }
  }

  async sweep(): Promise<void> {
    await deleteUnpricedUsesBefore(this.#options.storage, this.#options.clock.wallMs() - KEPT_MS);
  }

  /** A request without tools or terms has nothing to refuse the next time. */
  #remember(keyId: string, producer: string, name: string): void {
    if (producer === "" || this.#remembered >= MAX_REMEMBERED) return;
    const known = this.#byKey.get(keyId) ?? new Map<string, string[]>();
    const names = known.get(producer) ?? [];
    if (names.includes(name)) return;
    this.#remembered++;
    known.set(producer, [...names, name]);
    this.#byKey.set(keyId, known);
  }
}
