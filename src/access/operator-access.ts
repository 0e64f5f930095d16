import { timingSafeEqual } from "node:crypto";
import type { Sources } from "../base/sources.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import type { Role } from "../canon/role.ts";
import type { Storage } from "../storage/storage.ts";
import { insertLink, takeLink } from "../storage/tables/operator-links.ts";
import {
  deleteSession,
  insertSession,
  type StoredPerson,
  type StoredSession,
  selectSession,
  selectSessions,
  touchSession,
} from "../storage/tables/operator-sessions.ts";
import { type StoredOperator, selectOperatorByHash, selectOperators } from "../storage/tables/operators.ts";
import { takeLogin } from "../storage/tables/used-logins.ts";
import { hashKey } from "./key-hash.ts";
import { isOperatorSecret } from "./operators.ts";
import type { Operator } from "./people/operator.ts";
import { operatorOfPerson, type PeopleRoles } from "./people/person.ts";

/** The operator of the admin secret. */
const ADMIN: Operator = { id: "admin", name: "admin", role: "admin" };

const HOUR_MS = 3_600_000;
/** A session ends when it is idle for this long, and in any case after the second. */
const IDLE_MS = 12 * HOUR_MS;
export const SESSION_MS = 7 * 24 * HOUR_MS;
/** The longest session of a person. The issuer may remove the person during it. */
export const PERSON_SESSION_MS = 12 * HOUR_MS;
/** Each operator keeps this many sessions, the newest. */
const MAX_SESSIONS = 20;
/** The minimum time between two writes of a session's last use. */
const TOUCH_MS = 60_000;
const TOKEN_BYTES = 32;
const TOKEN_PATTERN = /^[A-Za-z0-9_-]{43}$/;
/** How long a link can open a session. */
const LINK_MS = 10 * 60_000;
/** Longer secrets are rejected without hashing them. */
const MAX_SECRET_LENGTH = 500;

export interface OpenedSession {
  operator: Operator;
  /** For the cookie; only its digest is stored. */
  token: string;
  csrf: string;
}

interface AccessOptions extends Sources {
  storage: Storage;
  /** SHA-256 of the admin secret; undefined if there is none, in which case nothing matches (S08). */
  adminHash: () => string | undefined;
  /** Who may log in at an issuer; absent: nobody. */
  people?: () => PeopleRoles | undefined;
}

/** A session as the API shows it. */
export interface SessionView {
  id: string;
  operator: string;
  role: Role;
  project: string | null;
  issuer: string | null;
  subject: string | null;
  address: string | null;
  created_at: string;
  used_at: string;
  expires_at: string;
}

/**
 * Secrets and sessions of operators. The admin secret is compared in memory, so that it works while the storage is
 * unavailable. Everything else is read from the storage for each request, so that a revocation applies at once at
 * every instance.
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

  /** Opens a session if the secret is right. */
  async open(presented: string, address?: string): Promise<OpenedSession | undefined> {
    const operator = await this.bySecret(presented);
    return operator === undefined ? undefined : this.#openFor(operator, { secretHash: hashKey(presented), address });
  }

  /** Opens a session for a person whom the issuer has identified; undefined if none of their groups has a role. */
  async openForPerson(person: StoredPerson, address: string): Promise<OpenedSession | undefined> {
    const operator = operatorOfPerson(person, this.#options.people?.());
    return operator === undefined ? undefined : this.#openFor(operator, { secretHash: "", person, address });
  }

  /** Marks a login at an issuer as used; false if it was used before, at any instance. */
  useLogin(login: { hash: string; expiresAtMs: number }): Promise<boolean> {
    const { storage, clock } = this.#options;
    return storage.transaction((queries) => takeLogin(queries, login, Math.floor(clock.wallMs())));
  }

  /** Returns a token that opens one session as the admin; undefined if there is no admin secret. */
  async createLink(): Promise<string | undefined> {
    const { storage, clock, adminHash } = this.#options;
    const secretHash = adminHash();
    if (secretHash === undefined) return undefined;
    const token = this.#newToken();
    const nowMs = Math.round(clock.wallMs());
    await insertLink(storage, { hash: hashKey(token), secretHash, expiresAtMs: nowMs + LINK_MS }, nowMs);
    return token;
  }

  /** Opens a session if the link is unused and the admin secret is still the one that it was made for. */
  async openByLink(token: string, address?: string): Promise<OpenedSession | undefined> {
    if (!TOKEN_PATTERN.test(token)) return undefined;
    const { storage, clock, adminHash } = this.#options;
    const secretHash = await takeLink(storage, hashKey(token), Math.round(clock.wallMs()));
    if (secretHash === undefined || !isEqual(secretHash, adminHash())) return undefined;
    return this.#openFor(ADMIN, { secretHash, address });
  }

  #newToken(): string {
    return this.#options.random.bytes(TOKEN_BYTES).toBase64({ alphabet: "base64url", omitPadding: true });
  }

  async #openFor(
    operator: Operator,
    opened: Pick<StoredSession, "secretHash"> & { person?: StoredPerson; address?: string | undefined },
  ): Promise<OpenedSession> {
    const { storage, clock, random } = this.#options;
    const token = this.#newToken();
    const nowMs = Math.round(clock.wallMs());
    await insertSession(
      storage,
      withoutAbsent({
        hash: hashKey(token),
        id: `ses_${random.bytes(12).toHex()}`,
        operatorId: operator.id,
        ...opened,
        createdAtMs: nowMs,
        usedAtMs: nowMs,
      }),
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
    if (endOf(session) < nowMs) {
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

  /** The sessions that are open, the newest first. */
  async sessions(): Promise<SessionView[]> {
    const { storage, clock } = this.#options;
    const nowMs = clock.wallMs();
    const open = (await selectSessions(storage)).filter((session) => endOf(session) >= nowMs);
    const operators = new Map((await selectOperators(storage)).map((one) => [one.hash, one]));
    return open.flatMap((session) => {
      const operator = this.#operatorOf(session, operators.get(session.secretHash));
      return operator === undefined ? [] : [sessionView(session, operator)];
    });
  }

  /** Ends the session with this id; undefined if none is open. */
  async end(id: string): Promise<SessionView | undefined> {
    const { storage } = this.#options;
    const found = (await this.sessions()).find((session) => session.id === id);
    const stored = found && (await selectSessions(storage)).find((session) => session.id === id);
    return stored !== undefined && (await deleteSession(storage, stored.hash)) ? found : undefined;
  }

  /** A session ends with the secret that opened it, or with the role of its person. */
  async #ofSession(session: StoredSession): Promise<Operator | undefined> {
    const isStored = session.person === undefined && session.operatorId !== ADMIN.id;
    const stored = isStored ? await selectOperatorByHash(this.#options.storage, session.secretHash) : undefined;
    return this.#operatorOf(session, stored);
  }

  #operatorOf({ operatorId, secretHash, person }: StoredSession, stored: StoredOperator | undefined) {
    if (person !== undefined) return operatorOfPerson(person, this.#options.people?.());
    if (operatorId === ADMIN.id) return isEqual(secretHash, this.#options.adminHash()) ? ADMIN : undefined;
    return stored === undefined || stored.revokedAtMs !== undefined ? undefined : operatorOf(stored);
  }

  async #byHash(hash: string): Promise<Operator | undefined> {
    const found = await selectOperatorByHash(this.#options.storage, hash);
    return found === undefined || found.revokedAtMs !== undefined ? undefined : operatorOf(found);
  }
}

/** The token that a page must send with each change. It is derived from the session token, which no page can read. */
export const csrfOf = (token: string): string => hashKey(`csrf:${token}`);

export const isCsrfOf = (token: string, presented: string): boolean =>
  isEqual(hashKey(presented), hashKey(csrfOf(token)));

/** When a session ends unless it is used again. */
const endOf = ({ createdAtMs, usedAtMs, person }: StoredSession): number =>
  Math.min(usedAtMs + IDLE_MS, createdAtMs + (person === undefined ? SESSION_MS : PERSON_SESSION_MS));

const sessionView = (session: StoredSession, { name, role, project }: Operator): SessionView => ({
  id: session.id,
  operator: name,
  role,
  project: project ?? null,
  issuer: session.person?.issuer ?? null,
  subject: session.person?.subject ?? null,
  address: session.address ?? null,
  created_at: new Date(session.createdAtMs).toISOString(),
  used_at: new Date(session.usedAtMs).toISOString(),
  expires_at: new Date(endOf(session)).toISOString(),
});

const operatorOf = ({ id, name, role, project }: StoredOperator): Operator => ({
  id,
  name,
  role,
  ...withoutAbsent({ project }),
});

/** Compares two digests in constant time. */
function isEqual(one: string, other: string | undefined): boolean {
  return other !== undefined && one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
