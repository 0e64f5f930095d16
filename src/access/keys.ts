import type { Sources } from "../base/sources.ts";
import { DIALECT_NAMES } from "../canon/dialect-name.ts";
import { GatewayError } from "../canon/error.ts";
import type { RoutingSettings } from "../canon/routing-settings.ts";
import {
  insertKey,
  type KeyChange,
  markKeyRevoked,
  replaceKey,
  type StoredKey,
  selectKeys,
  selectKeysByIdOrName,
  selectKeysOfProject,
} from "../storage/keys.ts";
import type { Storage } from "../storage/storage.ts";
import { newApiKey } from "./key-hash.ts";
import { KEY_ROUTING_NAMES, keyRoutingView, readKeyRouting } from "./key-routing.ts";
import { checkSubset } from "./key-subset.ts";
import { type Limits, limitsView, readLimits } from "./limits.ts";
import { type Principal, principalOf } from "./principal.ts";

const MAX_NAME_LENGTH = 100;
const MAX_PATTERNS = 100;
const MAX_PATTERN_LENGTH = 200;

export interface KeyRequest {
  name: string;
  project: string;
  /** Default: the maker's models, or every model. */
  models?: readonly string[];
  protocols?: readonly string[];
  expiresAtMs?: number;
  limits?: Limits;
  /** Refuse what cannot be honoured exactly. */
  strict?: boolean;
  /** How its calls are served where they do not say otherwise; default: as its maker's. */
  routing?: RoutingSettings;
  /** The key that makes this one; the new key can do no more than it (S05). */
  maker?: Principal;
}

interface CreatedKey {
  id: string;
  /** The key is shown only here. */
  key: string;
  hint: string;
}

/** A stored key without its digest, for people to look at. */
export type KeySummary = Omit<StoredKey, "hash">;

export async function createKey(
  storage: Storage,
  request: KeyRequest,
  { clock, random }: Sources,
): Promise<CreatedKey> {
  const { maker } = request;
  const protocols = request.protocols ?? maker?.protocols;
  const expiresAtMs = request.expiresAtMs ?? maker?.expiresAtMs;
  const routing = request.routing ?? maker?.routing;
  const scopes = {
    project: checkName("project", request.project),
    models: checkModels(request.models ?? maker?.models ?? ["*"]),
    ...(protocols === undefined ? {} : { protocols: checkProtocols(protocols) }),
    ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
    limits: readLimits({ ...maker?.limits, ...request.limits }),
  };
  if (maker !== undefined) checkSubset(scopes, maker);
  const nowMs = clock.wallMs();
  checkExpiry(expiresAtMs, nowMs);
  const { key, hash, hint } = newApiKey(random);
  const id = `key_${random.bytes(12).toHex()}`;
  await insertKey(storage, {
    id,
    name: checkName("name", request.name),
    ...scopes,
    limits: { ...scopes.limits },
    // A key passes its strictness to the keys that it makes: a child can do no more than its maker.
    ...(request.strict || maker?.strict ? { strict: true } : {}),
    ...(routing === undefined ? {} : { routing: { ...keyRoutingView(routing) } }),
    hash,
    hint,
    createdAtMs: nowMs,
    ...(maker === undefined ? {} : { madeBy: maker.keyId }),
  });
  return { id, key, hint };
}

export async function listKeys(storage: Storage, filter: { project?: string } = {}): Promise<KeySummary[]> {
  const keys =
    filter.project === undefined ? await selectKeys(storage) : await selectKeysOfProject(storage, filter.project);
  return keys.map(summarise);
}

/** Revokes the key of that id, or the one valid key of that name. A key that is revoked already stays so. */
export async function revokeKey(
  storage: Storage,
  idOrName: string,
  { clock }: Pick<Sources, "clock">,
): Promise<KeySummary> {
  const key = await findKey(storage, idOrName);
  if (key.revokedAtMs !== undefined) return summarise(key);
  const revokedAtMs = clock.wallMs();
  await markKeyRevoked(storage, key.id, revokedAtMs);
  return { ...summarise(key), revokedAtMs };
}

/** What is to change; `null` takes a bound away, and what is left out stays. */
export interface KeyUpdate {
  name?: string;
  models?: readonly string[];
  protocols?: readonly string[] | null;
  expiresAtMs?: number | null;
  /** By their names in files: limits that are not named stay. */
  limits?: Readonly<Record<string, number | null>>;
  strict?: boolean;
  /** By their names in files: settings that are not named stay. */
  routing?: Readonly<Record<string, unknown>>;
}

/** Changes the key of that id, or the one valid key of that name. */
export async function updateKey(
  storage: Storage,
  idOrName: string,
  update: KeyUpdate,
  { clock }: Pick<Sources, "clock">,
): Promise<KeySummary> {
  checkExpiry(update.expiresAtMs ?? undefined, clock.wallMs());
  const key = await findKey(storage, idOrName);
  if (key.revokedAtMs !== undefined) {
    throw new GatewayError("invalid_request", `The key ${key.name} (${key.id}) is revoked, and stays so.`);
  }
  const protocols = update.protocols === undefined ? key.protocols : update.protocols;
  const expiresAtMs = update.expiresAtMs === undefined ? key.expiresAtMs : update.expiresAtMs;
  const changed: KeyChange = {
    name: update.name === undefined ? key.name : checkName("name", update.name),
    models: update.models === undefined ? key.models : checkModels(update.models),
    ...(protocols == null ? {} : { protocols: checkProtocols(protocols) }),
    ...(expiresAtMs == null ? {} : { expiresAtMs }),
    limits: changeLimits(key.limits, update.limits ?? {}),
    ...((update.strict ?? key.strict) ? { strict: true } : {}),
    ...changeRouting(key.routing, update.routing),
  };
  if (key.madeBy !== undefined) {
    const [maker] = await selectKeysByIdOrName(storage, key.madeBy);
    if (maker) checkSubset(principalOf({ ...key, ...changed }), principalOf(maker));
  }
  await replaceKey(storage, key.id, changed);
  const { protocols: _protocols, expiresAtMs: _expiry, strict: _strict, routing: _routing, ...rest } = summarise(key);
  return { ...rest, ...changed };
}

function changeLimits(
  stored: Readonly<Record<string, number>>,
  update: Readonly<Record<string, number | null>>,
): Record<string, number> {
  const removed = Object.keys(update).filter((name) => update[name] === null);
  const given = Object.fromEntries(Object.entries(update).filter(([, value]) => value !== null)) as Record<
    string,
    number
  >;
  // Both are read alone first, so that an unknown name is reported whether it is added or removed.
  readLimits(Object.fromEntries(removed.map((name) => [name, undefined])));
  const limits = { ...limitsView(stored), ...limitsView(given) };
  for (const name of removed) delete limits[name];
  return { ...readLimits(limits) };
}

function changeRouting(
  stored: Readonly<Record<string, unknown>> = {},
  update: Readonly<Record<string, unknown>> = {},
): Pick<KeyChange, "routing"> {
  const removed = Object.keys(update).filter((name) => update[name] === null);
  const unknown = removed.find((name) => !KEY_ROUTING_NAMES.some((known) => known === name));
  if (unknown !== undefined) readKeyRouting({ [unknown]: true });
  const given = Object.fromEntries(Object.entries(update).filter(([, value]) => value !== null));
  const merged = { ...stored, ...keyRoutingView(readKeyRouting(given)) };
  const kept = Object.fromEntries(Object.entries(merged).filter(([name]) => !removed.includes(name)));
  return Object.keys(kept).length === 0 ? {} : { routing: kept };
}

async function findKey(storage: Storage, idOrName: string): Promise<StoredKey> {
  const found = await selectKeysByIdOrName(storage, idOrName);
  return found.find((candidate) => candidate.id === idOrName) ?? onlyOne(found, idOrName);
}

function onlyOne(named: readonly StoredKey[], name: string): StoredKey {
  const valid = named.filter((key) => key.revokedAtMs === undefined);
  if (valid.length > 1) {
    const ids = valid.map((key) => key.id).join(", ");
    throw new GatewayError("invalid_request", `${valid.length} valid keys have this name; give the id of one: ${ids}.`);
  }
  const key = valid[0] ?? named.at(-1);
  if (key === undefined) {
    const message = `There is no key with the id or name ${JSON.stringify(name.slice(0, 100))}.`;
    throw new GatewayError("not_found", message, { code: "key_not_found" });
  }
  return key;
}

function summarise({ hash: _, ...summary }: StoredKey): KeySummary {
  return summary;
}

function checkName(path: "name" | "project", name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (name === "" || name.length > MAX_NAME_LENGTH || /[\u0000-\u001f\u007f]/.test(name)) {
    const message = `\`${path}\` must have 1 to ${MAX_NAME_LENGTH} characters, none of them a control character.`;
    throw new GatewayError("invalid_request", message, { path });
  }
  return name;
}

function checkExpiry(expiresAtMs: number | undefined, nowMs: number): void {
  if (expiresAtMs === undefined || expiresAtMs > nowMs) return;
  throw new GatewayError("invalid_request", "The expiry must be in the future.", { path: "expires_at" });
}

function checkModels(patterns: readonly string[]): readonly string[] {
  const fits = patterns.every((pattern) => pattern !== "" && pattern.length <= MAX_PATTERN_LENGTH);
  if (!fits || patterns.length === 0 || patterns.length > MAX_PATTERNS) {
    const message = `\`models\` must name 1 to ${MAX_PATTERNS} models or patterns of at most ${MAX_PATTERN_LENGTH} characters; \`*\` is every model.`;
    throw new GatewayError("invalid_request", message, { path: "models" });
  }
  return patterns;
}

function checkProtocols(protocols: readonly string[]): readonly string[] {
  const known = DIALECT_NAMES.filter((name) => protocols.includes(name));
  if (protocols.length === 0 || !protocols.every((name) => known.some((dialect) => dialect === name))) {
    const message = `\`protocols\` must name one or more of ${DIALECT_NAMES.join(", ")}; leave it out for all of them.`;
    throw new GatewayError("invalid_request", message, { path: "protocols" });
  }
  return known;
}
