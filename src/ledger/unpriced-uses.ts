import type { Clock } from "../base/clock.ts";
import type { Receipt } from "../canon/receipt.ts";
import { countUnpricedUse, deleteUnpricedUsesBefore, selectUnpricedUses } from "../storage/receipts/unpriced-uses.ts";
import type { Storage } from "../storage/storage.ts";

interface UnpricedUsesOptions {
  storage: Storage;
  clock: Clock;
  onProblem: (error: unknown) => void;
}

/** A key, and the one that made it. */
interface KeyOwner {
  readonly keyId: string;
  readonly maker?: KeyOwner | undefined;
}

/** A use that is not repeated is forgotten after this. */
const KEPT_MS = 90 * 86_400_000;
/** What is remembered of one key, so that no key crowds out others. Each producer stays blocked by the names that it has. */
const MAX_PRODUCERS = 64;
const MAX_NAMES = 8;
/** The keys that are remembered: those that used something last. */
const MAX_KEYS = 2_000;
/** What one call adds at most, and how many writes may wait for the storage. */
const MAX_OF_CALL = 32;
const MAX_WAITING = 100;
/** How many rows are read: more than a gateway with many such keys has. */
const MAX_READ = 10_000;

type Producers = Map<string, readonly string[]>;

/**
 * What keys have used without a known price: by key, then by the tool or term of the request that it came from. Every process of a
 * gateway writes what it sees to the storage, and reads what others have seen. A key counts for the keys that it made.
 */
export class UnpricedUses {
  readonly #options: UnpricedUsesOptions;
  /** The key that used something last comes last. */
  readonly #byKey = new Map<string, Producers>();
  #waiting = 0;

  constructor(options: UnpricedUsesOptions) {
    this.#options = options;
  }

  /** What requests of a key, or of those made by it, for a tool or a term have come to that has no price. */
  blocked(owner: KeyOwner, producer: string): readonly string[] | undefined {
    if (this.#byKey.size === 0) return undefined;
    return this.#byKey.get(firstMaker(owner))?.get(withoutVersion(producer));
  }

  /** Takes note of a call that could not be billed in full. `producedBy`: the tools and terms of its request. */
  note(receipt: Receipt, owner: KeyOwner, producedBy: readonly string[]): void {
    const { storage, onProblem } = this.#options;
    const { unpriced = [], project, model, provider, id: receiptId, createdAtMs: lastAtMs } = receipt;
    const keyId = firstMaker(owner);
    const producers = producedBy.length === 0 ? NO_PRODUCER : [...new Set(producedBy.map(withoutVersion))];
    const uses = unpriced.flatMap((name) => producers.map((producer) => ({ name, producedBy: producer })));
    for (const use of uses.slice(0, MAX_OF_CALL)) {
      // The receipt has those that are not remembered, or find no place in the queue.
      if (!this.#remember(keyId, use.producedBy, use.name) || this.#waiting >= MAX_WAITING) continue;
      this.#waiting++;
      countUnpricedUse(storage, { keyId, ...use, project, model, provider, receiptId, lastAtMs })
        .catch(onProblem)
        .finally(() => this.#waiting--);
    }
  }

  /** Reads what is known. Never rejects. */
  async read(): Promise<void> {
    const { storage, clock, onProblem } = this.#options;
    try {
      const sinceMs = clock.wallMs() - KEPT_MS;
      for (const { keyId, producedBy, name } of await selectUnpricedUses(storage, { sinceMs, limit: MAX_READ })) {
        this.#remember(keyId, withoutVersion(producedBy), name);
      }
    } catch (error) {
      onProblem(error);
    }
  }

  async sweep(): Promise<void> {
    await deleteUnpricedUsesBefore(this.#options.storage, this.#options.clock.wallMs() - KEPT_MS);
  }

  /** Whether there is a place for it. A request without tools or terms has nothing to refuse the next time, but is remembered too. */
  #remember(keyId: string, producer: string, name: string): boolean {
    const known: Producers = this.#byKey.get(keyId) ?? new Map();
    const names = known.get(producer) ?? [];
    this.#byKey.delete(keyId);
    this.#byKey.set(keyId, known);
    if (this.#byKey.size > MAX_KEYS) this.#forgetFirst();
    if (names.includes(name)) return true;
    if (names.length === MAX_NAMES || (names.length === 0 && known.size === MAX_PRODUCERS)) return false;
    known.set(producer, [...names, name]);
    return true;
  }

  #forgetFirst(): void {
    for (const keyId of this.#byKey.keys()) {
      this.#byKey.delete(keyId);
      return;
    }
  }
}

const NO_PRODUCER: readonly string[] = [""];

/** Versions of a tool are one: what one of them produced, the next may. */
const withoutVersion = (name: string): string => name.replace(/_\d{8}$/, "");

/** Keys that a key makes would else each be new. */
function firstMaker(owner: KeyOwner): string {
  let first = owner;
  while (first.maker !== undefined) first = first.maker;
  return first.keyId;
}
