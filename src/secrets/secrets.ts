import type { Clock } from "../base/clock.ts";
import { withTimeout } from "../base/with-timeout.ts";
import { AwsSecrets } from "./aws-secrets.ts";
import { GoogleSecrets } from "./google-secrets.ts";
import { type Environment, SecretFailure, type SecretStore } from "./secret-store.ts";
import { VaultSecrets } from "./vault-secrets.ts";

interface SecretsOptions {
  environment: Environment;
  clock: Clock;
  /** How long one secret may take. */
  limitMs?: number;
}

/** What changed when the secrets were read again. */
export interface Refreshed {
  /** At least one value has changed. */
  hasChanged: boolean;
  /** Secrets that could be read before and cannot be read now, or for another reason than before. */
  failed: readonly { reference: string; problem: string }[];
  /** Secrets that can be read again. */
  recovered: readonly string[];
}

interface Reading {
  value?: string;
  problem?: string;
}

const LIMIT_MS = 10_000;
/** More at once would be an attack on a store. */
const AT_ONCE = 8;

/** Secrets of stores, as last read. A value that was read once is kept while its store does not answer. */
export class Secrets {
  readonly #stores: ReadonlyMap<string, SecretStore>;
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #readings = new Map<string, Reading>();

  constructor({ environment, clock, limitMs = LIMIT_MS }: SecretsOptions) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#stores = new Map<string, SecretStore>([
      ["vault", new VaultSecrets(environment)],
      ["aws-sm", new AwsSecrets(environment, clock)],
      ["gcp-sm", new GoogleSecrets(environment, clock)],
    ]);
  }

  /** As last read. */
  read(reference: string): { value: string } | { problem: string } {
    const { value, problem = "it has not been read yet" } = this.#readings.get(reference) ?? {};
    return value === undefined ? { problem } : { value };
  }

  /** Reads these secrets again, and forgets all others. Never rejects, and takes a bounded time. */
  async refresh(references: readonly string[]): Promise<Refreshed> {
    for (const known of this.#readings.keys()) if (!references.includes(known)) this.#readings.delete(known);
    const failed: { reference: string; problem: string }[] = [];
    const recovered: string[] = [];
    let hasChanged = false;
    const waiting = [...references];
    const work = async () => {
      for (let reference = waiting.shift(); reference !== undefined; reference = waiting.shift()) {
        const before = this.#readings.get(reference) ?? {};
        const now = await this.#fetch(reference);
        if (now.problem === undefined) {
          if (before.problem !== undefined) recovered.push(reference);
          hasChanged ||= before.value !== now.value;
          this.#readings.set(reference, now);
        } else {
          if (before.problem !== now.problem) failed.push({ reference, problem: now.problem });
          this.#readings.set(reference, { ...before, problem: now.problem });
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return { hasChanged, failed, recovered };
  }

  async #fetch(reference: string): Promise<Reading> {
    const [scheme = "", name = ""] = splitOnce(reference, ":");
    const store = this.#stores.get(scheme);
    if (store === undefined)
      return { problem: `${scheme} is not a secret store; use ${[...this.#stores.keys()].join(", ")}` };
    const [path = "", field] = splitOnce(name, "#");
    const abort = new AbortController();
    const late = () => new SecretFailure(`the store did not answer within ${this.#limitMs / 1000} s`);
    try {
      return {
        value: await withTimeout(store.read({ path, field, signal: abort.signal }), this.#limitMs, this.#clock, late),
      };
    } catch (thrown) {
      // Other errors may contain what the store has answered.
      return { problem: thrown instanceof SecretFailure ? thrown.message : "the store cannot be reached" };
    } finally {
      abort.abort();
    }
  }
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
