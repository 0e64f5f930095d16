import type { Sources } from "../base/sources.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import type { UnpricedPolicy } from "../canon/billable.ts";
import { GatewayError } from "../canon/error.ts";
import type { Sharing } from "../canon/ownership.ts";
import type { RoutingSettings } from "../canon/routing-settings.ts";
import type { AnswerCacheSettings } from "../canon/settings/answer-cache-settings.ts";
import { checkTags, unionOfTags } from "../canon/tags.ts";
import type { Queries, Storage } from "../storage/storage.ts";
import {
  insertKey,
  type KeyChange,
  type KeySettings,
  markKeyRevoked,
  replaceKey,
  replaceSecret,
  type StoredKey,
  selectKeys,
  selectKeysByIdOrName,
  selectKeysMadeBy,
  selectKeysOfProject,
} from "../storage/tables/keys.ts";
import { selectProject } from "../storage/tables/projects.ts";
import { type Actor, changesOf, recordAct } from "./audit.ts";
import {
  CREATE_KEYS,
  checkExpiry,
  checkKeyNetworks,
  checkKeyScopes,
  checkModels,
  checkProtocols,
} from "./key-checks.ts";
import { newApiKey } from "./key-hash.ts";
import { changeKeyRouting, keyRoutingView } from "./key-routing.ts";
import { checkSubset } from "./key-subset.ts";
import { type KeySummary, keyView } from "./key-view.ts";
import { changeLimits, type Limits, readLimits } from "./limits.ts";
import { checkName, checkSlug } from "./names.ts";
import {
  changePartLimits,
  type PartLimits,
  type PartLimitsChange,
  readPartLimits,
  storedPartLimits,
} from "./parts/part-limits.ts";
import { type Principal, principalOf } from "./principal.ts";

/** The most child keys that a key may have, not counting revoked ones. */
const MAX_CHILDREN = 1_000;
const MAX_OVERLAP_SECONDS = 2_592_000;
/** How long both secrets of a rotated key work by default, in the Admin API, the command line and the console. */
export const DEFAULT_OVERLAP_SECONDS = 86_400;

/** A key to create. Absent settings are inherited from the parent key, if there is one. */
export interface KeyRequest extends Omit<KeySettings, "models" | "unpriced"> {
  /** Default: the parent's models, or every model. */
  models?: readonly string[];
  limits?: Limits;
  partLimits?: PartLimits;
  routing?: RoutingSettings;
  billing?: { unpriced?: UnpricedPolicy };
  /** The parent key; the new key can do no more than it (S05). */
  maker?: Principal;
}

interface CreatedKey {
  id: string;
  /** The key is shown only here. */
  key: string;
  hint: string;
}

export async function createKey(
  storage: Storage,
  request: KeyRequest,
  sources: Sources,
  actor: Actor,
): Promise<CreatedKey> {
  const { clock, random } = sources;
  const { maker } = request;
  const protocols = request.protocols ?? maker?.protocols;
  const expiresAtMs = request.expiresAtMs ?? maker?.expiresAtMs;
  const routing = request.routing ?? maker?.routing;
  const networks = request.networks ?? maker?.networks?.map(({ text }) => text);
  const nowMs = Math.floor(clock.wallMs());
  checkExpiry(expiresAtMs, nowMs);
  const { key, hash, hint } = newApiKey(random);
  const limits = readLimits({ ...maker?.limits, ...request.limits });
  const scopes = checkKeyScopes(request.scopes ?? []);
  const stored: StoredKey = withoutAbsent({
    id: `key_${random.bytes(12).toHex()}`,
    name: checkName("name", request.name),
    project: checkName("project", request.project),
    models: checkModels(request.models ?? maker?.models ?? ["*"]),
    protocols: protocols === undefined ? undefined : checkProtocols(protocols),
    expiresAtMs,
    limits: { ...limits },
    // Strictness is inherited: a child can do no more than its parent.
    strict: request.strict || maker?.strict ? true : undefined,
    routing: routing === undefined ? undefined : { ...keyRoutingView(routing) },
    networks: networks === undefined ? undefined : checkKeyNetworks(networks),
    scopes: scopes.length === 0 ? undefined : scopes,
    tags: checkTags(unionOfTags(maker?.tags, request.tags) ?? []),
    capture: request.capture ? true : undefined,
    providerObjects: request.providerObjects ? true : undefined,
    objects: request.objects,
    unpriced: request.billing?.unpriced ?? maker?.unpriced,
    partLimits: partColumn(request.partLimits),
    answerCache: request.answerCache,
    hash,
    hint,
    createdAtMs: nowMs,
    madeBy: maker?.keyId,
  });
  if (maker !== undefined) {
    checkSubset(principalOf(stored), maker);
    if (stored.capture) throw onlyOperators("capture", "it decides whether bodies are kept");
    if (stored.answerCache) throw onlyOperators("cache", "it decides whether responses are kept");
  }
  await storage.transaction(async (queries) => {
    if (maker !== undefined) await checkMaker(queries, maker);
    await checkProject(queries, stored.project);
    await insertKey(queries, stored);
    await recordAct(
      queries,
      { ...actor, ...aboutKey("key.create", stored), after: keyView(summarise(stored)) },
      sources,
    );
  });
  return { id: stored.id, key, hint };
}

const partColumn = (limits: PartLimits | undefined): StoredKey["partLimits"] => {
  const stored = storedPartLimits(limits);
  return stored && { ...stored };
};

const onlyOperators = (path: string, why: string): GatewayError =>
  new GatewayError("forbidden", `\`${path}\` can only be set by an operator, because ${why}.`, { path });

/** The first key of a project creates it, so its id must be valid. */
async function checkProject(queries: Queries, id: string): Promise<void> {
  const project = await selectProject(queries, id);
  if (project === undefined) checkSlug("project", id);
  if (project?.status !== "deleted") return;
  throw new GatewayError("invalid_request", `The project "${id}" is deleted.`, { path: "project" });
}

async function checkMaker(queries: Queries, maker: Principal): Promise<void> {
  if (!maker.scopes?.includes(CREATE_KEYS)) {
    const message = `The key "${maker.keyName}" cannot create keys: it does not have the scope ${CREATE_KEYS}.`;
    throw new GatewayError("forbidden", message);
  }
  const made = await selectKeysMadeBy(queries, maker.keyId);
  if (made.filter(({ revokedAtMs }) => revokedAtMs === undefined).length < MAX_CHILDREN) return;
  const message = `The key "${maker.keyName}" already has ${MAX_CHILDREN} child keys, the maximum. Revoke one first.`;
  throw new GatewayError("invalid_request", message);
}

export async function listKeys(
  storage: Storage,
  filter: { project?: string; madeBy?: string } = {},
): Promise<KeySummary[]> {
  const { project, madeBy } = filter;
  const keys =
    madeBy !== undefined
      ? await selectKeysMadeBy(storage, madeBy)
      : project !== undefined
        ? await selectKeysOfProject(storage, project)
        : await selectKeys(storage);
  return keys.map(summarise);
}

/** Revokes the key of that id, or the only valid key of that name, and its children. A revoked key stays revoked. */
export function revokeKey(storage: Storage, idOrName: string, sources: Sources, actor: Actor): Promise<KeySummary> {
  return storage.transaction(async (queries) => {
    const key = await findKey(queries, idOrName);
    if (key.revokedAtMs !== undefined) return summarise(key);
    const revokedAtMs = Math.floor(sources.clock.wallMs());
    const revoked = await markKeyRevoked(queries, key.id, revokedAtMs);
    // Another process has revoked it since it was read, and has recorded the act.
    if (!revoked.includes(key.id)) return summarise(await findKey(queries, key.id));
    const children = revoked.filter((id) => id !== key.id).sort();
    const after = { revoked_at: new Date(revokedAtMs).toISOString(), ...(children.length === 0 ? {} : { children }) };
    await recordAct(
      queries,
      { ...actor, ...aboutKey("key.revoke", key), before: { name: key.name, revoked_at: null }, after },
      sources,
    );
    return { ...summarise(key), revokedAtMs };
  });
}

/** An update; `null` removes a limit or setting, and omitted fields stay. */
export interface KeyUpdate
  extends Partial<Pick<KeySettings, "name" | "models" | "strict" | "scopes" | "tags" | "capture" | "providerObjects">> {
  protocols?: readonly string[] | null;
  expiresAtMs?: number | null;
  /** By their names in files; limits that are not named stay. */
  limits?: Readonly<Record<string, number | null>>;
  partLimits?: PartLimitsChange;
  /** By their names in files; settings that are not named stay. */
  routing?: Readonly<Record<string, unknown>>;
  networks?: readonly string[] | null;
  objects?: Sharing | null;
  billing?: { unpriced?: UnpricedPolicy | null };
  answerCache?: AnswerCacheSettings | null;
}

/** Changes the key of that id, or the only valid key of that name. */
export async function updateKey(
  storage: Storage,
  idOrName: string,
  update: KeyUpdate,
  sources: Sources,
  actor: Actor,
): Promise<KeySummary> {
  checkExpiry(update.expiresAtMs ?? undefined, sources.clock.wallMs());
  return storage.transaction(async (queries) => {
    const key = await findKey(queries, idOrName);
    refuseRevoked(key);
    const [maker] = key.madeBy === undefined ? [] : await selectKeysByIdOrName(queries, key.madeBy);
    const change = changed(key, update, maker);
    const after: StoredKey = { ...fixedIn(key), ...change };
    if (maker) checkSubset(principalOf(after), await makerNow(queries, maker));
    await replaceKey(queries, key.id, change);
    const changes = changesOf({ ...keyView(summarise(key)) }, { ...keyView(summarise(after)) });
    await recordAct(queries, { ...actor, ...aboutKey("key.update", key), ...changes }, sources);
    return summarise(after);
  });
}

/** Includes what its project allows it. */
async function makerNow(queries: Queries, maker: StoredKey): Promise<Principal> {
  const principal = principalOf(maker);
  const project = await selectProject(queries, maker.project);
  return project?.providerObjects ? { ...principal, providerObjects: true } : principal;
}

/** The fields that no update changes. */
function fixedIn(key: StoredKey): Omit<StoredKey, keyof KeyChange> {
  const { name, models, protocols, expiresAtMs, limits, strict, routing, networks, scopes, ...rest } = key;
  const { tags, capture, providerObjects, objects, unpriced, partLimits, answerCache, ...fixed } = rest;
  return fixed;
}

function changed(key: StoredKey, update: KeyUpdate, maker: StoredKey | undefined): KeyChange {
  const protocols = update.protocols === undefined ? key.protocols : update.protocols;
  const networks = update.networks === undefined ? key.networks : update.networks;
  const scopes = update.scopes === undefined ? key.scopes : checkKeyScopes(update.scopes);
  return withoutAbsent({
    name: update.name === undefined ? key.name : checkName("name", update.name),
    models: update.models === undefined ? key.models : checkModels(update.models),
    protocols: protocols == null ? undefined : checkProtocols(protocols),
    expiresAtMs: (update.expiresAtMs === undefined ? key.expiresAtMs : update.expiresAtMs) ?? undefined,
    limits: changeLimits(key.limits, update.limits ?? {}),
    strict: (update.strict ?? key.strict) ? true : undefined,
    routing: changeKeyRouting(key.routing, update.routing),
    networks: networks == null ? undefined : checkKeyNetworks(networks),
    scopes: scopes === undefined || scopes.length === 0 ? undefined : scopes,
    tags: update.tags === undefined ? key.tags : checkTags(unionOfTags(maker?.tags, update.tags) ?? []),
    capture: (update.capture ?? key.capture) ? true : undefined,
    providerObjects: (update.providerObjects ?? key.providerObjects) ? true : undefined,
    objects: (update.objects === undefined ? key.objects : update.objects) ?? undefined,
    unpriced: (update.billing?.unpriced === undefined ? key.unpriced : update.billing.unpriced) ?? undefined,
    partLimits:
      update.partLimits === undefined
        ? key.partLimits
        : partColumn(changePartLimits(readPartLimits(key.partLimits), update.partLimits)),
    answerCache: (update.answerCache === undefined ? key.answerCache : update.answerCache) ?? undefined,
  });
}

interface RotatedKey extends CreatedKey {
  /** Until then the previous secret works as well. */
  previousUntilMs: number;
}

/**
 * Gives the key of that id, or the only valid key of that name, a new secret. The old one works until the overlap
 * ends.
 */
export function rotateKey(
  storage: Storage,
  idOrName: string,
  { overlapSeconds = DEFAULT_OVERLAP_SECONDS }: { overlapSeconds?: number | undefined },
  sources: Sources,
  actor: Actor,
): Promise<RotatedKey> {
  if (!Number.isInteger(overlapSeconds) || overlapSeconds < 0 || overlapSeconds > MAX_OVERLAP_SECONDS) {
    const message = `\`overlap_seconds\` must be a whole number from 0 to ${MAX_OVERLAP_SECONDS}.`;
    throw new GatewayError("invalid_request", message, { path: "overlap_seconds" });
  }
  const { key, hash, hint } = newApiKey(sources.random);
  return storage.transaction(async (queries) => {
    const stored = await findKey(queries, idOrName);
    refuseRevoked(stored);
    const rotatedAtMs = Math.floor(sources.clock.wallMs());
    const previousUntilMs = rotatedAtMs + overlapSeconds * 1_000;
    await replaceSecret(queries, stored.id, { hash, hint, previousUntilMs, rotatedAtMs });
    const after = { hint, previous_until: new Date(previousUntilMs).toISOString() };
    await recordAct(
      queries,
      { ...actor, ...aboutKey("key.rotate", stored), before: { hint: stored.hint }, after },
      sources,
    );
    return { id: stored.id, key, hint, previousUntilMs };
  });
}

const aboutKey = (act: string, { id, project }: StoredKey) => ({ act, target: id, project });

function refuseRevoked({ name, id, revokedAtMs }: StoredKey): void {
  if (revokedAtMs === undefined) return;
  throw new GatewayError("invalid_request", `The key ${name} (${id}) is revoked and cannot be changed.`);
}

function summarise({ hash: _hash, previousHash: _previous, ...summary }: StoredKey): KeySummary {
  return summary;
}

/** Finds a key by its id, or the only valid key of that name. */
async function findKey(queries: Queries, idOrName: string): Promise<StoredKey> {
  const found = await selectKeysByIdOrName(queries, idOrName);
  return found.find((candidate) => candidate.id === idOrName) ?? onlyOne(found, idOrName);
}

function onlyOne(named: readonly StoredKey[], name: string): StoredKey {
  const valid = named.filter((key) => key.revokedAtMs === undefined);
  if (valid.length > 1) {
    const ids = valid.map((key) => key.id).join(", ");
    throw new GatewayError("invalid_request", `${valid.length} valid keys have this name; use an id instead: ${ids}.`);
  }
  const key = valid[0] ?? named.at(-1);
  if (key !== undefined) return key;
  const message = `No key has the id or name ${JSON.stringify(name.slice(0, 100))}.`;
  throw new GatewayError("not_found", message, { code: "key_not_found" });
}
