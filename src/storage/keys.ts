import { GatewayError } from "../canon/error.ts";
import { countKeyChange } from "./change-counter.ts";
import { number, optionalNumber, optionalText, text } from "./columns.ts";
import { insertProject } from "./projects.ts";
import type { Parameter, Queries, Storage, StoredRow } from "./storage.ts";

/** An API key as it is kept: never the key itself, only its digest and last characters. */
export interface StoredKey {
  id: string;
  name: string;
  project: string;
  /** SHA-256 of the whole key, in hex. */
  hash: string;
  hint: string;
  models: readonly string[];
  protocols?: readonly string[];
  limits: Readonly<Record<string, number>>;
  /** Calls that cannot be honoured to the letter are refused. */
  strict?: boolean;
  /** How its calls are served where they do not say otherwise. */
  routing?: Readonly<Record<string, unknown>>;
  expiresAtMs?: number;
  createdAtMs: number;
  /** Id of the key that made this one. */
  madeBy?: string;
  revokedAtMs?: number;
}

const COLUMNS =
  "id, name, project, hash, hint, models, protocols, limits, expires_at_ms, created_at_ms, made_by, revoked_at_ms, strict, routing";

/** Keeps the key and its project, and lets running servers notice. */
export async function insertKey(storage: Storage, key: StoredKey): Promise<void> {
  await storage.transaction(async (queries) => {
    await insertProject(queries, { name: key.project, createdAtMs: key.createdAtMs });
    await queries.query(`INSERT INTO api_keys (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, [
      key.id,
      key.name,
      key.project,
      key.hash,
      key.hint,
      JSON.stringify(key.models),
      key.protocols === undefined ? null : JSON.stringify(key.protocols),
      JSON.stringify(key.limits),
      key.expiresAtMs ?? null,
      key.createdAtMs,
      key.madeBy ?? null,
      key.revokedAtMs ?? null,
      key.strict ? 1 : 0,
      key.routing === undefined ? null : JSON.stringify(key.routing),
    ]);
    await countKeyChange(queries);
  });
}

/** What may change in a key while it lives. */
export type KeyChange = Pick<
  StoredKey,
  "name" | "models" | "protocols" | "limits" | "strict" | "routing" | "expiresAtMs"
>;

/** Replaces what may change, and lets running servers notice. */
export async function replaceKey(storage: Storage, id: string, key: KeyChange): Promise<void> {
  await storage.transaction(async (queries) => {
    await queries.query(
      "UPDATE api_keys SET name = ?, models = ?, protocols = ?, limits = ?, expires_at_ms = ?, strict = ?, routing = ? WHERE id = ?",
      [
        key.name,
        JSON.stringify(key.models),
        key.protocols === undefined ? null : JSON.stringify(key.protocols),
        JSON.stringify(key.limits),
        key.expiresAtMs ?? null,
        key.strict ? 1 : 0,
        key.routing === undefined ? null : JSON.stringify(key.routing),
        id,
      ],
    );
    await countKeyChange(queries);
  });
}

/** Revokes the key unless it already is, and lets running servers notice. */
export async function markKeyRevoked(storage: Storage, id: string, revokedAtMs: number): Promise<void> {
  await storage.transaction(async (queries) => {
    await queries.query("UPDATE api_keys SET revoked_at_ms = ? WHERE id = ? AND revoked_at_ms IS NULL", [
      revokedAtMs,
      id,
    ]);
    await countKeyChange(queries);
  });
}

export function selectKeys(queries: Queries): Promise<StoredKey[]> {
  return select(queries, "", []);
}

export function selectKeysOfProject(queries: Queries, project: string): Promise<StoredKey[]> {
  return select(queries, "WHERE project = ?", [project]);
}

/** The key of that id, and every key of that name. */
export function selectKeysByIdOrName(queries: Queries, idOrName: string): Promise<StoredKey[]> {
  return select(queries, "WHERE id = ? OR name = ?", [idOrName, idOrName]);
}

async function select(queries: Queries, where: string, parameters: readonly Parameter[]): Promise<StoredKey[]> {
  const rows = await queries.query(`SELECT ${COLUMNS} FROM api_keys ${where} ORDER BY created_at_ms, id`, parameters);
  return rows.map(readKey);
}

function readKey(row: StoredRow): StoredKey {
  const protocols = optionalText(row, "protocols");
  const expiresAtMs = optionalNumber(row, "expires_at_ms");
  const madeBy = optionalText(row, "made_by");
  const revokedAtMs = optionalNumber(row, "revoked_at_ms");
  const routing = optionalText(row, "routing");
  const id = text(row, "id");
  return {
    id,
    name: text(row, "name"),
    project: text(row, "project"),
    hash: text(row, "hash"),
    hint: text(row, "hint"),
    models: readJson(id, "models", text(row, "models")),
    ...(protocols === undefined ? {} : { protocols: readJson<string[]>(id, "protocols", protocols) }),
    limits: readJson(id, "limits", text(row, "limits")),
    ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
    createdAtMs: number(row, "created_at_ms"),
    ...(madeBy === undefined ? {} : { madeBy }),
    ...(revokedAtMs === undefined ? {} : { revokedAtMs }),
    ...(number(row, "strict") === 0 ? {} : { strict: true }),
    ...(routing === undefined ? {} : { routing: readJson<Record<string, unknown>>(id, "routing", routing) }),
  };
}

/** Only this program writes these columns, so their JSON has the expected shape unless it was edited by hand. */
function readJson<Value>(id: string, column: string, value: string): Value {
  try {
    return JSON.parse(value) as Value;
  } catch (thrown) {
    throw new GatewayError("internal", `The stored API key ${id} has a \`${column}\` that is not JSON.`, {
      cause: thrown,
    });
  }
}
