import { recordAct } from "../../access/audit.ts";
import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/sources.ts";
import type { Log } from "../../observe/log.ts";
import type { Storage } from "../../storage/storage.ts";

/** Rows in each window: strangers must not fill the audit log. */
const MAX_RECORDED = 100;
const RECORDING_MS = 3_600_000;

interface WrongSecret {
  address: string;
  /** How it was sent: to the login, as the link that the start prints, with a request, or from an issuer. */
  by: "secret" | "link" | "bearer" | "oidc";
  /** Who an issuer says it was. */
  target?: string;
  after?: Readonly<Record<string, string>>;
}

interface Parts {
  storage: Storage;
  clock: Clock;
  random: Random;
  log: Log;
}

/** Records wrong secrets of operators, however they were sent (S21). The attempted secret is not kept. */
export class WrongSecrets {
  readonly #parts: Parts;
  #recorded = 0;
  #windowEndsMs = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The actor is unknown, only the address. If the storage is unavailable, the refusal must not depend on it. */
  async record({ address, by, target = by, after }: WrongSecret): Promise<void> {
    const { storage, clock, log } = this.#parts;
    const nowMs = clock.nowMs();
    if (nowMs >= this.#windowEndsMs) {
      this.#recorded = 0;
      this.#windowEndsMs = nowMs + RECORDING_MS;
    }
    if (++this.#recorded > MAX_RECORDED) return;
    try {
      await recordAct(storage, { who: "unknown", address, act: "session.refused", target, after }, this.#parts);
    } catch (err) {
      log.warn({ err, address }, "recording a wrong secret failed");
    }
    log.warn(
      { address },
      by === "oidc" ? "a login at the issuer was refused" : "a wrong secret or link was sent to the Admin API",
    );
  }
}
