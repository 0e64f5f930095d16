import type { Log } from "../../observe/log.ts";
import type { Secrets } from "../../secrets/secrets.ts";
import type { ConfigSource } from "../read-config.ts";
import { referencesOf, withSecrets } from "./with-secrets.ts";

/** The secrets of stores that a running gateway uses, read again regularly. */
export class FreshSecrets {
  readonly #source: ConfigSource;
  readonly #log: Log;
  #secrets: Secrets | undefined;
  #refreshing: Promise<boolean> | undefined;

  constructor(source: ConfigSource, log: Log) {
    this.#source = source;
    this.#log = log;
    this.#secrets = source.secrets;
  }

  /** For reading the configuration. */
  get known(): Pick<ConfigSource, "secrets"> {
    return this.#secrets === undefined ? {} : { secrets: this.#secrets };
  }

  /** Resolves to whether a value has changed. Undefined if the configuration refers to no secret. Never rejects. */
  refresh(): Promise<boolean> | undefined {
    const references = referencesOf(this.#source);
    if (references.length === 0 && this.#secrets === undefined) return undefined;
    this.#refreshing ??= this.#refresh(references)
      .catch((err: unknown) => {
        this.#log.error({ err }, "failed to read the secrets of stores again");
        return false;
      })
      .finally(() => {
        this.#refreshing = undefined;
      });
    return this.#refreshing;
  }

  async #refresh(references: readonly string[]): Promise<boolean> {
    if (this.#secrets === undefined) {
      const { secrets } = await withSecrets(this.#source);
      this.#secrets = secrets;
      return secrets !== undefined;
    }
    const { hasChanged, failed, recovered } = await this.#secrets.refresh(references);
    for (const { reference, problem } of failed)
      this.#log.warn(`failed to read the secret ${reference} again: ${problem}; the previous value stays in effect`);
    for (const reference of recovered) this.#log.info(`the secret ${reference} can be read again`);
    return hasChanged;
  }
}
