import { timingSafeEqual } from "node:crypto";
import type { Sources } from "../base/sources.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import type { Role } from "../canon/role.ts";
import type { Storage } from "../storage/storage.ts";
import { insertLink, takeLink } from "../storage/tables/operator-links.ts";
import {
  deleteSession,
  insertSession,
  type StoredSession,
  selectSession,
  touchSession,
} from "../storage/tables/operator-sessions.ts";
import { type StoredOperator, selectOperatorByHash } from "../storage/tables/operators.ts";
import { hashKey } from "./key-hash.ts";
import { isOperatorSecret } from "./operators.ts";

/** Who uses the Admin API. */
export interface Operator {
  id: string;
  name: string;
  role: Role;
  /** The one project that an operator with the role `project` sees. */
  project?: string;
}

/** The operator that the admin secret belongs to. */
const ADMIN: Operator = { id: "admin", name: "admin", role: "admin" };

const HOUR_MS = 3_600_000;
/** A session ends when it was not used for this long, and in any case after the second. */
const IDLE_MS = 12 * HOUR_MS;
export const SESSION_MS = 7 * 24 * HOUR_MS;
/** Each operator keeps as many, the newest. */
const MAX_SESSIONS = 20;
/** The use of a session is written down no more often. */
const TOUCH_MS = 60_000;
const TOKEN_BYTES = 32;
const TOKEN_PATTERN = /^[A-Za-z0-9_-]{43}$/;
/** How long a link opens a session, unless it was used. */
const LINK_MS = 10 * 60_000;
/** No longer secret is digested. */
const MAX_SECRET_LENGTH = 500;

export interface OpenedSession {
  operator: Operator;
  /** For the cookie; only its digest is stored. */
  token: string;
  csrf: string;
}

interface AccessOptions extends Sources {
  storage: Storage;
  /** SHA-256 of the admin secret; undefined while there is none, and then nothing matches it (S08). */
  adminHash: () => string | undefined;
}

/**
 * Secrets and sessions of operators. The admin secret is compared in memory, so that it works while the storage is away;
 * everything else is read there for each request, so that what is revoked ends at once at every instance.
 */
export class OperatorAccess {
  readonly #options: AccessOptions;

  constructor(options: AccessOptions) {
    this.#options = options;
  }

  async bySecret(presented: string): Promise<Operator | undefined> {
    if (presented === "" || presented.length > MAX_SECRET_LENGTH) return undefined;
    const hash = hashKey(presented);
    if (isEqual(hash, this.#options.adminHash())) return ADMIN;
    return isOperatorSecret(presented) ? this.#byHash(hash) : undefined;
  }

  /** Opens a session, if the secret is right. */
  async open(presented: string): Promise<OpenedSession | undefined> {
    const operator = await this.bySecret(presented);
    return operator === undefined ? undefined : this.#openFor(operator, hashKey(presented));
  }

  /** A token that opens one session as the admin; undefined while there is no admin secret. */
  async createLink(): Promise<string | undefined> {
    const { storage, clock, adminHash } = this.#options;
    const secretHash = adminHash();
    if (secretHash === undefined) return undefined;
    const token = this.#newToken();
    const nowMs = Math.round(clock.wallMs());
    await insertLink(storage, { hash: hashKey(token), secretHash, expiresAtMs: nowMs + LINK_MS }, nowMs);
    return token;
  }

  /** Opens a session, if the link was not used before, and the secret that it was made for is still that of the admin. */
  async openByLink(token: string): Promise<OpenedSession | undefined> {
    if (!TOKEN_PATTERN.test(token)) return undefined;
    const { storage, clock, adminHash } = this.#options;
    const secretHash = await takeLink(storage, hashKey(token), Math.round(clock.wallMs()));
    if (secretHash === undefined || !isEqual(secretHash, adminHash())) return undefined;
    return this.#openFor(ADMIN, secretHash);
  }

  #newToken(): string {
    return this.#options.random.bytes(TOKEN_BYTES).toBase64({ alphabet: "base64url", omitPadding: true });
  }

  async #openFor(operator: Operator, secretHash: string): Promise<OpenedSession> {
    const { storage, clock } = this.#options;
    const token = this.#newToken();
    const nowMs = Math.round(clock.wallMs());
    await insertSession(
      storage,
      {
        hash: hashKey(token),
        operatorId: operator.id,
        secretHash,
        createdAtMs: nowMs,
        usedAtMs: nowMs,
      },
      { most: MAX_SESSIONS, sinceMs: nowMs - SESSION_MS },
    );
    return { operator, token, csrf: csrfOf(token) };
  }

  async bySession(token: string): Promise<Operator | undefined> {
    if (!TOKEN_PATTERN.test(token)) return undefined;
    const { storage, clock } = this.#options;
    const session = await selectSession(storage, hashKey(token));
    if (session === undefined) return undefined;
    const nowMs = Math.round(clock.wallMs());
    if (nowMs - session.usedAtMs > IDLE_MS || nowMs - session.createdAtMs > SESSION_MS) {
      await deleteSession(storage, session.hash);
      return undefined;
    }
    const operator = await this.#ofSession(session);
    if (operator !== undefined && nowMs - session.usedAtMs > TOUCH_MS) await touchSession(storage, session.hash, nowMs);
    return operator;
  }

  async close(token: string): Promise<void> {
    await deleteSession(this.#options.storage, hashKey(token));
  }

  /** A session ends with the secret that opened it. */
  async #ofSession({ operatorId, secretHash }: StoredSession): Promise<Operator | undefined> {
    if (operatorId === ADMIN.id) return isEqual(secretHash, this.#options.adminHash()) ? ADMIN : undefined;
    return this.#byHash(secretHash);
  }

  async #byHash(hash: string): Promise<Operator | undefined> {
    const found = await selectOperatorByHash(this.#options.storage, hash);
    return found === undefined || found.revokedAtMs !== undefined ? undefined : operatorOf(found);
  }
}

/** What a page must send back with each change: it follows from the token, which no page can read. */
export const csrfOf = (token: string): string => hashKey(`csrf:${token}`);

export const isCsrfOf = (token: string, presented: string): boolean =>
  isEqual(hashKey(presented), hashKey(csrfOf(token)));

const operatorOf = ({ id, name, role, project }: StoredOperator): Operator => ({
  id,
  name,
  role,
  ...withoutAbsent({ project }),
});

/** Of two digests, in constant time. */
function isEqual(one: string, other: string | undefined): boolean {
  return other !== undefined && one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
