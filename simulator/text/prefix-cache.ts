import { createHash } from "node:crypto";
import type { PromptUnit } from "./prompt-units.ts";

const MAX_ENTRIES = 4_096;
/** Only this many prefixes of one prompt are kept, so that a long conversation does not evict all others. */
const MAX_ENDS = 128;
const LIFETIME_MS = { "5m": 300_000, "1h": 3_600_000 } as const;

interface PrefixEnd {
  key: string;
  /** Tokens from the start of the prompt to here. */
  tokens: number;
  unit: PromptUnit;
}

export interface CacheCount {
  read: number;
  write5m: number;
  write1h: number;
}

/** Remembers hashes of prompt prefixes, as hosts with prompt caches do. The least recently used go first. */
export class PrefixCache {
  readonly #expiryByKey = new Map<string, number>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  #ends(space: string, units: readonly PromptUnit[]): PrefixEnd[] {
    let key = space;
    let tokens = 0;
    const ends = units.map((unit) => {
      key = createHash("sha256").update(`${key}\n${unit.key}`).digest("base64");
      tokens += unit.tokens;
      return { key, tokens, unit };
    });
    return ends.filter((end) => end.unit.head !== true);
  }

  #has(key: string): boolean {
    const expiry = this.#expiryByKey.get(key);
    return expiry !== undefined && expiry > this.#nowMs();
  }

  #keep(key: string, lifetimeMs: number): void {
    this.#expiryByKey.delete(key);
    this.#expiryByKey.set(key, this.#nowMs() + lifetimeMs);
    for (const oldest of this.#expiryByKey.keys()) {
      if (this.#expiryByKey.size <= MAX_ENTRIES) break;
      this.#expiryByKey.delete(oldest);
    }
  }

  /** Hosts that cache by themselves: the longest prefix seen before, never the whole prompt. */
  implicit(space: string, units: readonly PromptUnit[]): CacheCount {
    const ends = this.#ends(space, units);
    const seen = ends.findLast((end) => this.#has(end.key));
    const total = ends.at(-1)?.tokens ?? 0;
    for (const end of ends.slice(-MAX_ENDS)) this.#keep(end.key, LIFETIME_MS["1h"]);
    return { read: Math.max(0, Math.min(seen?.tokens ?? 0, total - 1)), write5m: 0, write1h: 0 };
  }

  /** Hosts that cache where the caller marked it: read up to a known mark, write from there to the last mark. */
  explicit(space: string, units: readonly PromptUnit[]): CacheCount {
    const ends = this.#ends(space, units);
    const marks = ends.filter((end) => end.unit.cache !== undefined);
    const known = ends
      .slice(0, ends.findLastIndex((end) => end.unit.cache !== undefined) + 1)
      .findLast((end) => this.#has(end.key));
    const count: CacheCount = { read: known?.tokens ?? 0, write5m: 0, write1h: 0 };
    let from = count.read;
    for (const mark of marks) {
      const ttl = mark.unit.cache ?? "5m";
      if (mark.tokens > from) {
        count[ttl === "1h" ? "write1h" : "write5m"] += mark.tokens - from;
        from = mark.tokens;
      }
      this.#keep(mark.key, LIFETIME_MS[ttl]);
    }
    return count;
  }
}
