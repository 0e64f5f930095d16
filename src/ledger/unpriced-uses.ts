import type { Clock } from "../base/clock.ts";
import type { Receipt } from "../canon/receipt.ts";
import { countUnpricedUse, deleteUnpricedUsesBefore, selectUnpricedUses } from "../storage/receipts/unpriced-uses.ts";
import type { Storage } from "../storage/storage.ts";

interface UnpricedUsesOptions {
  storage: Storage;
  clock: Clock;
  onProblem: (error: unknown) => void;
}

/** A key and its parent. */
interface KeyOwner {
  readonly keyId: string;
  readonly maker?: KeyOwner | undefined;
}

/** A use that is not repeated is forgotten after this time. */
const KEPT_MS = 90 * 86_400_000;
/**
 * The most that is remembered of one key, so that no key crowds out others. Each producer stays blocked by its known
 * names.
 */
const MAX_PRODUCERS = 64;
const MAX_NAMES = 8;
/** The most keys that are remembered: those with the latest uses. */
const MAX_KEYS = 2_000;
/** The most that one call adds, and the most writes that may wait for the storage. */
const MAX_OF_CALL = 32;
const MAX_WAITING = 100;
/** How many rows are read: more than a gateway with many such keys has. */
const MAX_READ = 10_000;

type Producers = Map<string, readonly string[]>;

/**
 * Use without a known price: by key, then by the tool or term of the request that caused it. Every process writes what
 * it sees to the storage, and reads what others have seen. A key's uses also count for its children.
 */
export class UnpricedUses {
  readonly #options: UnpricedUsesOptions;
  /** The key with the latest use is last. */
  readonly #byKey = new Map<string, Producers>();
  #waiting = 0;

  constructor(options: UnpricedUsesOptions) {
    this.#options = options;
  }

  /** The unpriced names that requests of a key, or of its children, for a tool or a term have caused. */
  blocked(owner: KeyOwner, producer: string): readonly string[] | undefined {
    if (this.#byKey.size === 0) return undefined;
    return this.#byKey.get(firstMaker(owner))?.get(withoutVersion(producer));
  }

  /** Records a call that could not be billed in full. `producedBy`: the tools and terms of its request. */
  note(receipt: Receipt, owner: KeyOwner, producedBy: readonly string[]): void {
    const { storage, onProblem } = this.#options;
    const { unpriced = [], project, model, provider, id: receiptId, createdAtMs: lastAtMs } = receipt;
    const keyId = firstMaker(owner);
    const producers = producedBy.length === 0 ? NO_PRODUCER : [...new Set(producedBy.map(withoutVersion))];
    const uses = unpriced.flatMap((name) => producers.map((producer) => ({ name, producedBy: producer })));
    for (const use of uses.slice(0, MAX_OF_CALL)) {
      // Names that are not remembered, or find no place in the queue, are still in the receipt.
      if (!this.#remember(keyId, use.producedBy, use.name) || this.#waiting >= MAX_WAITING) continue;
      this.#waiting++;
      countUnpricedUse(storage, { keyId, ...use, project, model, provider, receiptId, lastAtMs })
        .catch(onProblem)
        .finally(() => this.#waiting--);
    }
  }

  /** Reads the recorded uses. Never rejects. */
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

  /**
   * Whether there is space for it. A request without tools or terms has nothing to refuse the next time, but is
   * remembered too.
   */
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

/** Versions of a tool count as one: what one of them produced, the next may. */
const withoutVersion = (name: string): string => name.replace(/_\d{8}$/, "");

/** Otherwise each child key would start without a history. */
function firstMaker(owner: KeyOwner): string {
  let first = owner;
  while (first.maker !== undefined) first = first.maker;
  return first.keyId;
}
