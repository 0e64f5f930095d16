import type { Sources } from "../../base/sources.ts";
import { GatewayError } from "../../canon/error.ts";
import type { Storage } from "../../storage/storage.ts";
import {
  type StoredSubject,
  selectChangedSubjects,
  selectRevokedSubjects,
  selectSubject,
  writeSubjects,
} from "../../storage/tables/token-subjects.ts";
import type { Actor } from "../audit.ts";
import { hashKey } from "../key-hash.ts";
import type { KnownKeys } from "../known-keys.ts";
import type { Level } from "../level.ts";
import { makePrincipal, type Principal, type Surroundings } from "../principal.ts";
import type { Caller } from "../scopes.ts";
import { subjectId } from "./subject-id.ts";
import { revokeSubject, type Subject } from "./subjects.ts";
import type { TokenIssuerSettings, TokenTerms, TokenVerifier, VerifiedToken } from "./verified-token.ts";

interface TokenRingOptions extends Sources {
  storage: Storage;
  verifier: TokenVerifier;
}

/** To whom work is billed after the request that has started it. */
export type Payer = Pick<Principal, "keyId" | "project">;

/** The keys and projects that are in force. */
type Places = Pick<KnownKeys, "placeOf">;

/** A signed token is longer than a key, and no header may be longer than this. */
const MAX_TOKEN_LENGTH = 16 * 1024;
/** Half of the tokens whose signatures need not be checked again, and the signatures that are checked at one time. */
const MAX_RECENT = 10_000;
const MAX_CHECKING = 1_000;
/** Subjects that have been idle for this long are forgotten until their next token. */
const IDLE_MS = 15 * 60_000;
const SWEEP_MS = 60_000;
/** A longer write would keep calls waiting. */
const MAX_WRITTEN = 500;
/** How late the last use of a subject may be written. */
const USED_WRITE_MS = 10_000;

/** Without a time of issue, a token may have been issued before any revocation. */
const NEVER_ISSUED = 0;

interface KnownSubject extends StoredSubject {
  /** By project: what it may do there, made for the places that were in force then. */
  readonly made: Map<string, { principal: Principal | undefined; places: Places } | undefined>;
}

interface KnownToken {
  readonly token: VerifiedToken;
  /** The id of its subject. */
  readonly id: string;
  readonly issuedAtMs: number;
  usedAtMs: number;
  made: { principal: Principal; places: Places } | undefined;
}

/** A signed token begins with an object in JSON, in base64url. Whether it is one is seen when it is checked. */
export const isTokenLike = (presented: string): boolean => presented.startsWith("ey") && presented.includes(".");

/**
 * Clients' tokens that stand for a key. A signature is checked once: after that the token is known by its full digest until it
 * expires (S06), and neither the issuer nor the storage is asked.
 */
export class TokenRing {
  readonly #options: TokenRingOptions;
  /** By their whole digests. To delete the oldest of a full map would take longer the more were deleted before. */
  #recent = new Map<string, KnownToken>();
  #older = new Map<string, KnownToken>();
  readonly #checking = new Map<string, Promise<KnownToken>>();
  readonly #subjects = new Map<string, KnownSubject>();
  /** Until when issued tokens are refused, by the id of their subject. */
  readonly #revoked = new Map<string, number>();
  /** Revoked here while the storage was not writable. */
  readonly #unwritten = new Map<string, { subject: Subject; untilMs: number; actor: Actor }>();
  readonly #used = new Set<string>();
  #usedWrittenMs: number;
  #sweptMs: number;
  #hasNew = false;
  #checked = 0;
  /** Counts configurations: a token that was checked under an earlier one is checked again. */
  #generation = 0;
  /** Called when the levels of one more subject limit calls. */
  onLevels: (levels: readonly Level[]) => void = () => {};
  /** Called with what this process revoked. */
  onRevokedHere: (id: string, untilMs: number) => void = () => {};
  /** Whether nothing of this idle subject is in use. */
  mayForget: (id: string) => boolean = () => true;

  constructor(options: TokenRingOptions) {
    this.#options = options;
    this.#usedWrittenMs = options.clock.nowMs();
    this.#sweptMs = this.#usedWrittenMs;
  }

  get isConfigured(): boolean {
    return this.#options.verifier.isConfigured;
  }

  get issuers(): readonly string[] {
    return this.#options.verifier.issuers;
  }

  /** Subjects and tokens in memory. */
  get tracked(): { subjects: number; tokens: number } {
    return { subjects: this.#subjects.size, tokens: this.#recent.size + this.#older.size };
  }

  /** Tokens whose signature was checked: each is checked once while it is known. */
  get checked(): number {
    return this.#checked;
  }

  /** The principal of a token; a promise if its signature has to be checked first. No error contains the token (S10). */
  identify(presented: string, caller: Caller, places: () => Places): Principal | Promise<Principal> {
    if (presented.length > MAX_TOKEN_LENGTH) throw tooLong();
    const digest = hashKey(presented);
    const known = this.#recent.get(digest) ?? this.#fromOlder(digest);
    if (known !== undefined) return this.#admit(known, caller, places());
    return this.#check(presented, digest).then((checked) => this.#admit(checked, caller, places()));
  }

  /** Whether a request with the token of that principal would be accepted now. */
  mayCall({ subject, expiresAtMs = 0, project }: Principal, places: Places): boolean {
    if (subject === undefined || this.#options.verifier.termsOf(subject.issuer) === undefined) return false;
    if (this.#isRevoked(subject.id, subject.issuedAtMs) || expiresAtMs <= this.#options.clock.wallMs()) return false;
    return places.placeOf(project)?.suspended === false;
  }

  /**
   * The subject with this id in the project of the token with which it has started work: others of its tokens may be for other projects.
   * Undefined if it may not call there any more.
   */
  current({ keyId, project }: Payer, places: Places): Principal | undefined {
    const subject = this.#subjects.get(keyId);
    if (subject === undefined || this.#isRevoked(keyId, subject.issuedAtMs)) return undefined;
    if (places.placeOf(project)?.suspended !== false) return undefined;
    return this.#principalOf(subject, project, places);
  }

  /** The same, also for a subject whose tokens only other processes have seen, or this one before a restart. */
  async recall(payer: Payer, places: () => Places): Promise<Principal | undefined> {
    const { keyId } = payer;
    if (!this.#subjects.has(keyId) && this.isConfigured) {
      const stored = await selectSubject(this.#options.storage, keyId);
      if (stored !== undefined && stored.project !== "" && !this.#subjects.has(keyId))
        this.#subjects.set(keyId, { ...stored, made: new Map() });
    }
    return this.current(payer, places());
  }

  /** Every level that limits a subject in memory. */
  *levels(places: Places): Iterable<Level> {
    for (const subject of this.#subjects.values())
      for (const project of subject.made.keys()) yield* this.#principalOf(subject, project, places)?.levels ?? [];
  }

  /** Replaces the issuers. */
  reconfigure(issuers: readonly TokenIssuerSettings[]): void {
    this.#options.verifier.reconfigure(issuers);
    this.#generation++;
    this.#recent.clear();
    this.#older.clear();
    for (const { made } of this.#subjects.values()) forget(made);
  }

  /** Reads all revocations. */
  async readRevoked(): Promise<void> {
    for (const { id, revokedUntilMs } of await selectRevokedSubjects(this.#options.storage)) {
      this.hearRevoked(id, revokedUntilMs ?? 0);
    }
  }

  /** Reads revocations since the counter had that value, and returns their numbers. */
  async readChanges(since: number): Promise<number[]> {
    const changed = await selectChangedSubjects(this.#options.storage, since);
    for (const { row } of changed) this.hearRevoked(row.id, row.revokedUntilMs ?? 0);
    return changed.map(({ changeNumber }) => changeNumber);
  }

  /** Tokens of that subject that were issued until then are refused. */
  hearRevoked(id: string, untilMs: number): void {
    this.#revoked.set(id, Math.max(untilMs, this.#revoked.get(id) ?? 0));
  }

  /** Revokes in this process at once, and tells the others, whatever happens to the storage (H29). */
  revokeHere({ issuer, subject }: Subject, untilMs: number): void {
    const id = subjectId(issuer, subject);
    this.hearRevoked(id, untilMs);
    this.onRevokedHere(id, untilMs);
  }

  /** The storage did not take the revocation: the next successful look writes it. */
  writeLater(subject: Subject, untilMs: number, actor: Actor): void {
    this.#unwritten.set(subjectId(subject.issuer, subject.subject), { subject, untilMs, actor });
  }

  /** Writes what is not written yet, and forgets what is idle. */
  async look(): Promise<void> {
    const { storage, clock } = this.#options;
    for (const [id, { subject, untilMs, actor }] of this.#unwritten) {
      await revokeSubject(storage, subject, untilMs, this.#options, actor);
      this.#unwritten.delete(id);
    }
    const nowMs = clock.nowMs();
    if (nowMs - this.#sweptMs >= SWEEP_MS) this.#sweep(nowMs);
    if (this.#hasNew || nowMs - this.#usedWrittenMs >= USED_WRITE_MS) await this.#writeSome();
  }

  /** Writes all subjects that were used. */
  async writeUsed(): Promise<void> {
    while (this.#used.size > 0) await this.#writeSome();
  }

  /** The rest is written at the next look. */
  async #writeSome(): Promise<void> {
    this.#usedWrittenMs = this.#options.clock.nowMs();
    const ids = [...this.#used].slice(0, MAX_WRITTEN);
    for (const id of ids) this.#used.delete(id);
    this.#hasNew = this.#used.size > 0;
    const subjects = ids.flatMap((id) => this.#subjects.get(id) ?? []);
    if (subjects.length === 0) return;
    try {
      await writeSubjects(this.#options.storage, subjects);
    } catch (thrown) {
      for (const id of ids) this.#used.add(id);
      throw thrown;
    }
  }

  #check(presented: string, digest: string): Promise<KnownToken> {
    const running = this.#checking.get(digest);
    if (running !== undefined) return running;
    if (this.#checking.size >= MAX_CHECKING) throw tooMany();
    const checking = this.#verify(presented, digest).finally(() => this.#checking.delete(digest));
    this.#checking.set(digest, checking);
    return checking;
  }

  async #verify(presented: string, digest: string): Promise<KnownToken> {
    const generation = this.#generation;
    this.#checked++;
    const token = await this.#options.verifier.verify(presented);
    if (generation !== this.#generation) return this.#verify(presented, digest);
    const nowMs = Math.floor(this.#options.clock.wallMs());
    // An issuer whose clock is ahead must not issue tokens that outlast a revocation.
    const issuedAtMs = Math.min(token.issuedAtMs ?? NEVER_ISSUED, nowMs);
    const id = subjectId(token.terms.issuer, token.subject);
    const known = { token, id, issuedAtMs, usedAtMs: nowMs, made: undefined };
    this.#keep(digest, known);
    return known;
  }

  #keep(digest: string, known: KnownToken): void {
    if (this.#recent.size >= MAX_RECENT) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(digest, known);
  }

  #fromOlder(digest: string): KnownToken | undefined {
    const known = this.#older.get(digest);
    if (known !== undefined && this.#older.delete(digest)) this.#keep(digest, known);
    return known;
  }

  #admit(known: KnownToken, caller: Caller, places: Places): Principal {
    const { token, id, issuedAtMs } = known;
    const place = places.placeOf(token.project);
    if (place === undefined) throw noSuchProject(token.project);
    if (known.made?.places !== places) known.made = { principal: this.#make(known, place.surroundings), places };
    const { principal } = known.made;
    caller.shown = principal;
    const nowMs = this.#options.clock.wallMs();
    if (this.#isRevoked(id, issuedAtMs)) throw refused("has been revoked");
    if (token.expiresAtMs <= nowMs) throw refused(`expired on ${new Date(token.expiresAtMs).toISOString()}`);
    if (place.suspended) throw suspended(token.project);
    known.usedAtMs = Math.floor(nowMs);
    this.#use(known, places);
    return principal;
  }

  /** Only subjects that were admitted are remembered and written. */
  #use({ token, id, issuedAtMs, usedAtMs }: KnownToken, places: Places): void {
    this.#used.add(id);
    let subject = this.#subjects.get(id);
    if (subject === undefined) {
      const { subject: named, name, project, terms } = token;
      const times = { createdAtMs: usedAtMs, usedAtMs, issuedAtMs };
      subject = { id, issuer: terms.issuer, subject: named, name, project, ...times, made: new Map() };
      this.#subjects.set(id, subject);
      this.#hasNew = true;
    }
    subject.usedAtMs = usedAtMs;
    if (subject.issuedAtMs < issuedAtMs) {
      subject.issuedAtMs = issuedAtMs;
      subject.name = token.name;
      subject.project = token.project;
      forget(subject.made);
    }
    if (!subject.made.has(token.project)) this.#principalOf(subject, token.project, places);
  }

  #make({ token, id, issuedAtMs }: KnownToken, surroundings: Surroundings): Principal {
    const { name, project, user, expiresAtMs, terms } = token;
    const principal = principalFor({ id, name, project, issuedAtMs }, terms, surroundings);
    return { ...principal, expiresAtMs, user };
  }

  /** Undefined if its issuer is not configured any more. */
  #principalOf(subject: KnownSubject, project: string, places: Places): Principal | undefined {
    const made = subject.made.get(project);
    if (made?.places === places) return made.principal;
    const terms = this.#options.verifier.termsOf(subject.issuer);
    const place = places.placeOf(project);
    const isOut = terms === undefined || place === undefined;
    const principal = isOut ? undefined : principalFor({ ...subject, project }, terms, place.surroundings);
    const isNew = !subject.made.has(project);
    subject.made.set(project, { principal, places });
    if (isNew) this.onLevels(principal?.levels ?? []);
    return principal;
  }

  #isRevoked(id: string, issuedAtMs: number): boolean {
    if (this.#revoked.size === 0) return false;
    const untilMs = this.#revoked.get(id);
    return untilMs !== undefined && issuedAtMs <= untilMs;
  }

  #sweep(nowMs: number): void {
    this.#sweptMs = nowMs;
    const wallMs = this.#options.clock.wallMs();
    for (const tokens of [this.#recent, this.#older]) {
      for (const [digest, { token, usedAtMs }] of tokens)
        if (token.expiresAtMs <= wallMs || wallMs - usedAtMs >= IDLE_MS) tokens.delete(digest);
    }
    for (const [id, { usedAtMs }] of this.#subjects) {
      if (wallMs - usedAtMs >= IDLE_MS && !this.#used.has(id) && this.mayForget(id)) this.#subjects.delete(id);
    }
  }
}

/** The projects stay, because their limits go on. */
function forget(made: KnownSubject["made"]): void {
  for (const project of made.keys()) made.set(project, undefined);
}

/** A subject has the limits of a key. What it stores is its own, unless its issuer's terms share it. */
function principalFor(
  { id, name, project, issuedAtMs }: Pick<StoredSubject, "id" | "name" | "project" | "issuedAtMs">,
  { issuer, models, limits, objects = "private" }: TokenTerms,
  surroundings: Surroundings,
): Principal {
  const principal = makePrincipal({ id, name, project, models, limits: { ...limits }, objects }, surroundings);
  return { ...principal, subject: { id, issuer, issuedAtMs } };
}

const tooLong = (): GatewayError =>
  new GatewayError(
    "unauthenticated",
    `This token has more than ${MAX_TOKEN_LENGTH} characters. Ask its issuer for one with fewer claims.`,
  );

const tooMany = (): GatewayError =>
  new GatewayError("overloaded", "Too many tokens are being checked at this moment. Try again in a second.", {
    retryAfterSeconds: 1,
  });

const refused = (what: string): GatewayError =>
  new GatewayError("unauthenticated", `This token ${what}. Ask its issuer for a new one.`);

const noSuchProject = (project: string): GatewayError =>
  new GatewayError(
    "forbidden",
    `The project "${project}" of this token does not exist. The operator of this gateway creates projects with \`trivium projects create\`.`,
    { code: "project_not_found" },
  );

const suspended = (project: string): GatewayError =>
  new GatewayError("forbidden", `The project "${project}" is suspended, so tokens for it cannot be used.`, {
    code: "project_suspended",
  });
