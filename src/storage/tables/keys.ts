import { withoutAbsent } from "../../base/without-absent.ts";
import type { UnpricedPolicy } from "../../canon/billable.ts";
import type { Sharing } from "../../canon/ownership.ts";
import type { AnswerCacheSettings } from "../../canon/settings/answer-cache-settings.ts";
import { number, optionalNumber, optionalText, readSharingColumn, text } from "../columns.ts";
import type { Parameter, Queries, Storage, StoredRow } from "../storage.ts";
import { readStoredJson } from "../stored-json.ts";
import { type Changed, countKeyChange } from "./change-counter.ts";
import { insertProject, readPolicy } from "./projects.ts";

/** The settings of a key, stored or configured. */
export interface KeySettings {
  name: string;
  project: string;
  /** Globs of model ids; `*` matches any run of characters. */
  models: readonly string[];
  /** Absent: every protocol. */
  protocols?: readonly string[];
  expiresAtMs?: number;
  /** Calls that cannot be honoured exactly are refused. */
  strict?: boolean;
  /** Where it may be used from, in CIDR notation; absent: everywhere. */
  networks?: readonly string[];
  /** What it may do in addition to calling models, such as `keys:create`. */
  scopes?: readonly string[];
  /** Tags of all its calls. */
  tags?: readonly string[];
  /** The bodies of its calls are kept for a while. */
  capture?: boolean;
  /** Its requests may name objects in providers' accounts. */
  providerObjects?: boolean;
  /** Who may see what it stores; absent: the default of its project, or of a child key. */
  objects?: Sharing;
  /** What happens to requests without a known price; absent if its project, the gateway or its budget decides. */
  unpriced?: UnpricedPolicy;
  /** Its responses answer equal requests; absent if its parent or its project decides. */
  answerCache?: AnswerCacheSettings;
}

/** A stored API key: never the key itself, only its digest and last characters. */
export interface StoredKey extends KeySettings {
  id: string;
  /** SHA-256 of the whole key, in hex. */
  hash: string;
  hint: string;
  limits: Readonly<Record<string, number>>;
  /** How its calls are served by default. */
  routing?: Readonly<Record<string, unknown>>;
  /** Limits for end users, models and tags; `src/access/part-limits.ts` reads them. */
  partLimits?: Readonly<Record<string, unknown>>;
  createdAtMs: number;
  /** The id of the parent key. */
  madeBy?: string;
  revokedAtMs?: number;
  /** The digest of the previous secret, and until when it still works. */
  previousHash?: string;
  previousUntilMs?: number;
  rotatedAtMs?: number;
  /** Accurate to some seconds, and only while the storage is writable. */
  lastUsedAtMs?: number;
}

const COLUMNS = [
  "id",
  "name",
  "project",
  "hash",
  "hint",
  "models",
  "protocols",
  "limits",
  "expires_at_ms",
  "created_at_ms",
  "made_by",
  "revoked_at_ms",
  "strict",
  "routing",
  "networks",
  "scopes",
  "previous_hash",
  "previous_until_ms",
  "rotated_at_ms",
  "last_used_at_ms",
  "tags",
  "capture",
  "provider_objects",
  "objects",
  "unpriced",
  "part_limits",
  "answer_cache",
];
const LISTED = COLUMNS.join(", ");
const MARKS = COLUMNS.map(() => "?").join(", ");

const optionalJson = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value));

/** Inserts the key, and its project if it does not exist, and notifies running servers. Call it in a transaction. */
export async function insertKey(queries: Queries, key: StoredKey): Promise<void> {
  await insertProject(queries, { id: key.project, createdAtMs: key.createdAtMs });
  const changeNumber = await countKeyChange(queries);
  await queries.query(`INSERT INTO api_keys (${LISTED}, change_number) VALUES (${MARKS}, ?)`, [
    key.id,
    key.name,
    key.project,
    key.hash,
    key.hint,
    JSON.stringify(key.models),
    optionalJson(key.protocols),
    JSON.stringify(key.limits),
    key.expiresAtMs ?? null,
    key.createdAtMs,
    key.madeBy ?? null,
    key.revokedAtMs ?? null,
    key.strict ? 1 : 0,
    optionalJson(key.routing),
    optionalJson(key.networks),
    optionalJson(key.scopes),
    key.previousHash ?? null,
    key.previousUntilMs ?? null,
    key.rotatedAtMs ?? null,
    key.lastUsedAtMs ?? null,
    optionalJson(key.tags),
    key.capture ? 1 : 0,
    key.providerObjects ? 1 : 0,
    key.objects ?? null,
    key.unpriced ?? null,
    optionalJson(key.partLimits),
    optionalJson(key.answerCache),
    changeNumber,
  ]);
}

/** The fields of a key that can change. */
export type KeyChange = Pick<
  StoredKey,
  | "name"
  | "models"
  | "protocols"
  | "limits"
  | "strict"
  | "routing"
  | "expiresAtMs"
  | "networks"
  | "scopes"
  | "tags"
  | "capture"
  | "providerObjects"
  | "objects"
  | "unpriced"
  | "partLimits"
  | "answerCache"
>;

/** Replaces the changeable fields, and notifies running servers. Call it in a transaction. */
export async function replaceKey(queries: Queries, id: string, key: KeyChange): Promise<void> {
  const changeNumber = await countKeyChange(queries);
  await queries.query(
    "UPDATE api_keys SET change_number = ?, name = ?, models = ?, protocols = ?, limits = ?, expires_at_ms = ?, strict = ?, routing = ?, networks = ?, scopes = ?, tags = ?, capture = ?, provider_objects = ?, objects = ?, unpriced = ?, part_limits = ?, answer_cache = ? WHERE id = ?",
    [
      changeNumber,
      key.name,
      JSON.stringify(key.models),
      optionalJson(key.protocols),
      JSON.stringify(key.limits),
      key.expiresAtMs ?? null,
      key.strict ? 1 : 0,
      optionalJson(key.routing),
      optionalJson(key.networks),
      optionalJson(key.scopes),
      optionalJson(key.tags),
      key.capture ? 1 : 0,
      key.providerObjects ? 1 : 0,
      key.objects ?? null,
      key.unpriced ?? null,
      optionalJson(key.partLimits),
      optionalJson(key.answerCache),
      id,
    ],
  );
}

/** Replaces the secret; the previous one works until `previousUntilMs`. Call it in a transaction. */
export async function replaceSecret(
  queries: Queries,
  id: string,
  secret: Pick<StoredKey, "hash" | "hint"> & { previousUntilMs: number; rotatedAtMs: number },
): Promise<void> {
  const changeNumber = await countKeyChange(queries);
  await queries.query(
    "UPDATE api_keys SET change_number = ?, previous_hash = hash, previous_until_ms = ?, hash = ?, hint = ?, rotated_at_ms = ? WHERE id = ?",
    [changeNumber, secret.previousUntilMs, secret.hash, secret.hint, secret.rotatedAtMs, id],
  );
}

/**
 * Revokes the key and its children, except those already revoked, and notifies running servers. Returns the ids that
 * it revoked. Call it in a transaction.
 */
export async function markKeyRevoked(queries: Queries, id: string, revokedAtMs: number): Promise<string[]> {
  const changeNumber = await countKeyChange(queries);
  const rows = await queries.query(
    `WITH RECURSIVE family (id) AS (
       SELECT id FROM api_keys WHERE id = ?
       UNION SELECT made.id FROM api_keys made JOIN family ON made.made_by = family.id
     )
     UPDATE api_keys SET revoked_at_ms = ?, change_number = ? WHERE revoked_at_ms IS NULL AND id IN (SELECT id FROM family) RETURNING id`,
    [id, revokedAtMs, changeNumber],
  );
  return rows.map((row) => text(row, "id"));
}

/**
 * Writes the uses since the last time; the latest one counts, whichever process writes it. Servers are not notified.
 */
export function writeLastUsed(storage: Storage, ids: readonly string[], usedAtMs: number): Promise<void> {
  return storage.runForEach(
    "UPDATE api_keys SET last_used_at_ms = ? WHERE id = ? AND (last_used_at_ms IS NULL OR last_used_at_ms < ?)",
    ids.map((id) => [usedAtMs, id, usedAtMs]),
  );
}

export function selectKeys(queries: Queries): Promise<StoredKey[]> {
  return select(queries, "", []);
}

/**
 * Keys that have changed since the counter had that value, in the order of their changes: a child comes after its
 * parent.
 */
export async function selectChangedKeys(queries: Queries, since: number): Promise<Changed<StoredKey>[]> {
  const rows = await queries.query(
    `SELECT ${LISTED}, change_number FROM api_keys WHERE change_number > ? ORDER BY change_number`,
    [since],
  );
  return rows.map((row) => ({ row: readKey(row), changeNumber: number(row, "change_number") }));
}

export function selectKeysOfProject(queries: Queries, project: string): Promise<StoredKey[]> {
  return select(queries, "WHERE project = ?", [project]);
}

/** The key of that id, and every key of that name. */
export function selectKeysByIdOrName(queries: Queries, idOrName: string): Promise<StoredKey[]> {
  return select(queries, "WHERE id = ? OR name = ?", [idOrName, idOrName]);
}

/** Parent ids by the ids of their children. */
export async function selectMakers(queries: Queries): Promise<ReadonlyMap<string, string>> {
  const rows = await queries.query("SELECT id, made_by FROM api_keys WHERE made_by IS NOT NULL");
  return new Map(rows.map((row) => [text(row, "id"), text(row, "made_by")]));
}

export function selectKeysMadeBy(queries: Queries, madeBy: string): Promise<StoredKey[]> {
  return select(queries, "WHERE made_by = ?", [madeBy]);
}

async function select(queries: Queries, where: string, parameters: readonly Parameter[]): Promise<StoredKey[]> {
  const rows = await queries.query(`SELECT ${LISTED} FROM api_keys ${where} ORDER BY created_at_ms, id`, parameters);
  return rows.map(readKey);
}

function readKey(row: StoredRow): StoredKey {
  const id = text(row, "id");
  const json = <Value>(column: string): Value | undefined => {
    const value = optionalText(row, column);
    return value === undefined ? undefined : readStoredJson<Value>(`API key ${id}`, column, value);
  };
  return withoutAbsent({
    id,
    name: text(row, "name"),
    project: text(row, "project"),
    hash: text(row, "hash"),
    hint: text(row, "hint"),
    models: json<string[]>("models") ?? [],
    limits: json<Record<string, number>>("limits") ?? {},
    createdAtMs: number(row, "created_at_ms"),
    protocols: json<string[]>("protocols"),
    expiresAtMs: optionalNumber(row, "expires_at_ms"),
    madeBy: optionalText(row, "made_by"),
    revokedAtMs: optionalNumber(row, "revoked_at_ms"),
    strict: number(row, "strict") === 0 ? undefined : true,
    routing: json<Record<string, unknown>>("routing"),
    networks: json<string[]>("networks"),
    scopes: json<string[]>("scopes"),
    tags: json<string[]>("tags"),
    capture: number(row, "capture") === 0 ? undefined : true,
    providerObjects: number(row, "provider_objects") === 0 ? undefined : true,
    objects: readSharingColumn(row),
    unpriced: readPolicy(optionalText(row, "unpriced")),
    partLimits: json<Record<string, unknown>>("part_limits"),
    answerCache: json<AnswerCacheSettings>("answer_cache"),
    previousHash: optionalText(row, "previous_hash"),
    previousUntilMs: optionalNumber(row, "previous_until_ms"),
    rotatedAtMs: optionalNumber(row, "rotated_at_ms"),
    lastUsedAtMs: optionalNumber(row, "last_used_at_ms"),
  });
}
