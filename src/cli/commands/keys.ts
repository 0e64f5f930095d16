import { readKeyRouting } from "../../access/key-routing.ts";
import { configuredKeys, type KeyView, keyView } from "../../access/key-view.ts";
import {
  createKey,
  DEFAULT_OVERLAP_SECONDS,
  type KeyUpdate,
  listKeys,
  revokeKey,
  rotateKey,
  updateKey,
} from "../../access/keys.ts";
import { staticKeyId } from "../../access/known-keys.ts";
import { readLimits } from "../../access/limits.ts";
import { readPartLimits } from "../../access/parts/part-limits.ts";
import { staticKeys } from "../../app/static-keys.ts";
import { system } from "../../base/system.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { GatewayError } from "../../canon/error.ts";
import type { Config } from "../../config/config.ts";
import { dollarsOf, moneyOf, type SpentMoney, spentByOwner } from "../../ledger/queries.ts";
import type { Storage } from "../../storage/storage.ts";
import { COMMAND_LINE } from "../actor.ts";
import { adminFields } from "../admin-fields.ts";
import { CACHE_FLAG, readCacheChange, readCacheFlag } from "../answer-cache/cache-flag.ts";
import { atGateway, GATEWAY_FLAGS } from "../at-gateway.ts";
import { EXIT, type Given, printJson, printTable, UsageError } from "../command.ts";
import {
  KEY_FLAGS,
  OBJECTS_FLAG,
  readExpiry,
  readLimitChanges,
  readLimitFlags,
  readProtocols,
  readRoutingChanges,
  readRoutingFlags,
  readSharing,
  readUnpriced,
  readUnpricedChange,
  UNPRICED_FLAG,
} from "../key-flags.ts";
import { showKey } from "../keys/show-key.ts";
import { PART_FLAGS, readPartFlags } from "../part-flags.ts";
import { readWholeNumber } from "../whole-number.ts";
import { withStorage } from "../with-storage.ts";
import { defineVerb, withVerbs } from "../with-verbs.ts";

type Created = Awaited<ReturnType<typeof createKey>>;

const create = defineVerb({
  name: "create",
  usage: "--name NAME [options]",
  summary: "create an API key and print it once",
  flags: {
    name: { type: "string", value: "NAME", about: "name of the key" },
    project: { type: "string", default: "default", value: "P", about: "project that the key belongs to" },
    ...KEY_FLAGS,
    strict: {
      type: "boolean",
      default: false,
      about: "reject requests with fields that the provider cannot honour exactly",
    },
    capture: {
      type: "boolean",
      default: false,
      about: "capture request and response bodies for operators to inspect",
    },
    "provider-objects": {
      type: "boolean",
      default: false,
      about: "allow requests to refer to objects in provider accounts, such as files, caches, and vector stores",
    },
    objects: OBJECTS_FLAG,
    unpriced: UNPRICED_FLAG,
    cache: CACHE_FLAG,
    ...PART_FLAGS,
    ...GATEWAY_FLAGS,
  },
  run: async ({ values }) => {
    if (!values.name) throw new UsageError("Missing name. Pass --name NAME.");
    const { name, project } = values;
    const request = {
      name,
      project,
      ...withoutAbsent({
        models: values.models?.split(","),
        protocols: values.protocols === undefined ? undefined : readProtocols(values.protocols),
        expiresAtMs: values.expires === undefined ? undefined : readExpiry(values.expires),
      }),
      limits: readLimits(readLimitFlags(values.limit)),
      ...withoutAbsent({
        networks: values.networks?.split(","),
        scopes: values.scopes?.split(","),
      }),
      ...(values.strict ? { strict: true } : {}),
      ...(values.capture ? { capture: true } : {}),
      ...(values["provider-objects"] ? { providerObjects: true } : {}),
      ...(values.objects === undefined ? {} : { objects: readSharing(values.objects) }),
      ...(values.tag.length === 0 ? {} : { tags: values.tag }),
      ...(values.unpriced === undefined ? {} : { billing: { unpriced: readUnpriced(values.unpriced) } }),
      ...withoutAbsent({ answerCache: values.cache === undefined ? undefined : readCacheFlag(values.cache) }),
      ...(values.routing.length === 0 ? {} : { routing: readKeyRouting(readRoutingFlags(values.routing)) }),
    };
    const parts = readPartFlags(values);
    const partLimits = readPartLimits(parts);
    const created = await atGateway(
      values,
      async (client) =>
        (await client.change("POST", "/api/keys", adminFields({ ...request, partLimits: parts }))) as Created,
      async () => {
        const asked = { ...request, ...withoutAbsent({ partLimits }) };
        return withStorage(values.config, (storage) => createKey(storage, asked, system, COMMAND_LINE), {
          mayCreate: true,
        });
      },
    );
    if (values.json) printJson(created);
    else console.log(`${created.key}\n\nSave this key now: it is not shown again. Its id is ${created.id}.`);
    return EXIT.ok;
  },
});

const MOST_LISTED = 100_000;
const SPENT = ["today", "month", "total"];
const HEADER = ["id", "name", "project", "key", "models", "tags", "limits", ...SPENT, "made", "used", "state"];

const list = defineVerb({
  name: "list",
  usage: "[--project P]",
  summary: "list keys with their limits and spending in US dollars; secrets are hidden",
  flags: { project: { type: "string", value: "P", about: "only keys of this project" }, ...GATEWAY_FLAGS },
  run: async ({ values }) => {
    const filter = values.project === undefined ? {} : { project: values.project };
    const found = await atGateway(
      values,
      async (client) => (await client.list<OfGateway>("/api/keys", filter, MOST_LISTED)).map(ofGateway),
      () =>
        withStorage(values.config, async (storage, config): Promise<ListedKey[]> => {
          const { byKey: spent } = await spentByOwner(storage, Date.now());
          const configured = configuredKeys(staticKeys(config)).filter(
            ({ project }) => project === (values.project ?? project),
          );
          const stored = (await listKeys(storage, filter)).map((key) => keyView(key));
          return [...configured, ...stored].map((key) => ({ ...key, ...spendView(moneyOf(spent.get(key.id))) }));
        }),
    );
    if (values.json) printJson(found);
    else printTable(HEADER, found.map(row));
    return EXIT.ok;
  },
});

interface ListedKey extends KeyView {
  /** US dollars in the current UTC day, week, month and quarter, and in total. */
  spent_usd: SpentMoney;
}

type OfGateway = KeyView & { spent_nano_usd: SpentMoney };

const ofGateway = ({ spent_nano_usd, ...key }: OfGateway): ListedKey => ({
  ...key,
  ...spendView(spent_nano_usd),
});

const spendView = (spent: SpentMoney): Pick<ListedKey, "spent_usd"> => ({ spent_usd: dollarsOf(spent) });

function row({ id, name, project, hint, models, tags, limits, spent_usd, ...key }: ListedKey): string[] {
  const state = key.revoked_at !== null ? "revoked" : isExpired(key) ? "expired" : "valid";
  const shown = Object.entries(limits).map(([limit, value]) => `${limit}=${value}`);
  const spent = [spent_usd.day, spent_usd.month, spent_usd.total].map((usd) => usd.toFixed(4));
  const used = key.last_used_at?.slice(0, 10) ?? (key.created_at === null ? "" : "never");
  const made = key.created_at === null ? "configured" : key.created_at.slice(0, 10);
  const about = [models.join(","), tags.join(","), shown.join(",") || "none"];
  return [id, name, project, `…${hint}`, ...about, ...spent, made, used, state];
}

const isExpired = ({ expires_at }: Pick<KeyView, "expires_at">) =>
  expires_at !== null && Date.parse(expires_at) <= Date.now();

const UPDATE_FLAGS = {
  name: { type: "string", value: "NAME", about: "new name" },
  ...KEY_FLAGS,
  protocols: { ...KEY_FLAGS.protocols, about: `${KEY_FLAGS.protocols.about}; "all" removes the restriction` },
  expires: { ...KEY_FLAGS.expires, about: `${KEY_FLAGS.expires.about}; "never" removes the expiry` },
  limit: { ...KEY_FLAGS.limit, about: `${KEY_FLAGS.limit.about}; NAME=none removes the limit` },
  routing: { ...KEY_FLAGS.routing, about: `${KEY_FLAGS.routing.about}; NAME=none removes the setting` },
  networks: { ...KEY_FLAGS.networks, about: `${KEY_FLAGS.networks.about}; "all" removes the restriction` },
  scopes: { ...KEY_FLAGS.scopes, about: `${KEY_FLAGS.scopes.about}; "none" removes all scopes` },
  tag: { ...KEY_FLAGS.tag, about: `${KEY_FLAGS.tag.about}; replaces all tags, "none" removes them` },
  strict: { type: "boolean", about: "reject requests with fields that the provider cannot honour exactly" },
  "no-strict": { type: "boolean", about: "adapt requests to the provider instead" },
  capture: { type: "boolean", about: "capture request and response bodies for operators to inspect" },
  "no-capture": { type: "boolean", about: "do not capture bodies" },
  "provider-objects": { type: "boolean", about: "allow requests to refer to objects in provider accounts" },
  "no-provider-objects": { type: "boolean", about: "reject requests that refer to such objects" },
  objects: { ...OBJECTS_FLAG, about: `${OBJECTS_FLAG.about}; "default" removes the setting` },
  unpriced: { ...UNPRICED_FLAG, about: `${UNPRICED_FLAG.about}; "default" removes the setting` },
  cache: { ...CACHE_FLAG, about: `${CACHE_FLAG.about}; "none" removes the setting` },
  ...PART_FLAGS,
  ...GATEWAY_FLAGS,
} as const;

const update = defineVerb({
  name: "update",
  usage: "ID [options]",
  summary: "update a key by id or name; other settings stay unchanged",
  flags: UPDATE_FLAGS,
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Missing key. Pass the id or name of the key to update.");
    const update = readUpdate(values);
    if (Object.keys(update).length === 0) throw new UsageError("Nothing to update. Pass at least one option.");
    const changed = await atGateway(
      values,
      async (client) =>
        (await client.change("PATCH", `/api/keys/${encodeURIComponent(id)}`, adminFields(update))) as KeyView,
      () =>
        withStorage(values.config, async (storage, config) => {
          await checkStoredKey(id, storage, config, "change");
          return keyView(await updateKey(storage, id, update, system, COMMAND_LINE));
        }),
    );
    if (values.json) printJson(changed);
    else console.log(`Updated ${changed.name} (${changed.id}). Running gateways apply the change within a second.`);
    return EXIT.ok;
  },
});

const isNone = (given: readonly string[]): boolean => given.length === 1 && given[0] === "none";

type Switch = "strict" | "capture" | "provider-objects";

function readSwitch(values: Given<typeof UPDATE_FLAGS>["values"], name: Switch): boolean | undefined {
  if (values[name] && values[`no-${name}`]) throw new UsageError(`--${name} and --no-${name} cannot be combined.`);
  return values[name] ? true : values[`no-${name}`] ? false : undefined;
}

function readUpdate(values: Given<typeof UPDATE_FLAGS>["values"]): KeyUpdate {
  const strict = readSwitch(values, "strict");
  const capture = readSwitch(values, "capture");
  const providerObjects = readSwitch(values, "provider-objects");
  const { protocols, expires, networks, scopes, objects } = values;
  return {
    ...withoutAbsent({
      name: values.name,
      models: values.models?.split(","),
      protocols: protocols === undefined ? undefined : protocols === "all" ? null : readProtocols(protocols),
      expiresAtMs: expires === undefined ? undefined : expires === "never" ? null : readExpiry(expires),
    }),
    ...(values.limit.length === 0 ? {} : { limits: readLimitChanges(values.limit) }),
    ...withoutAbsent({
      networks: networks === undefined ? undefined : networks === "all" ? null : networks.split(","),
      scopes: scopes === undefined ? undefined : scopes === "none" ? [] : scopes.split(","),
      strict,
      capture,
      providerObjects,
      objects: objects === undefined ? undefined : objects === "default" ? null : readSharing(objects),
      billing: values.unpriced === undefined ? undefined : { unpriced: readUnpricedChange(values.unpriced) },
      partLimits: readPartFlags(values),
      answerCache: values.cache === undefined ? undefined : readCacheChange(values.cache),
    }),
    ...(values.tag.length === 0 ? {} : { tags: isNone(values.tag) ? [] : values.tag }),
    ...(values.routing.length === 0 ? {} : { routing: readRoutingChanges(values.routing) }),
  };
}

interface Rotated {
  id: string;
  key: string;
  hint: string;
  previous_until: string;
}

const rotate = defineVerb({
  name: "rotate",
  usage: "ID [--overlap SECONDS]",
  summary: "issue a new secret for a key by id or name, and print it once",
  flags: {
    overlap: {
      type: "string",
      default: String(DEFAULT_OVERLAP_SECONDS),
      value: "SECONDS",
      about: "how long the old secret remains valid; 0 revokes it immediately",
    },
    ...GATEWAY_FLAGS,
  },
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Missing key. Pass the id or name of the key to rotate.");
    const overlapSeconds = readWholeNumber("--overlap", values.overlap, 0) ?? 0;
    const rotated = await atGateway(
      values,
      async (client) => {
        const path = `/api/keys/${encodeURIComponent(id)}/rotate`;
        return (await client.change("POST", path, { overlap_seconds: overlapSeconds })) as Rotated;
      },
      () =>
        withStorage(values.config, async (storage, config): Promise<Rotated> => {
          await checkStoredKey(id, storage, config, "change");
          const { previousUntilMs, ...made } = await rotateKey(storage, id, { overlapSeconds }, system, COMMAND_LINE);
          return { ...made, previous_until: new Date(previousUntilMs).toISOString() };
        }),
    );
    const until = rotated.previous_until;
    if (values.json) printJson(rotated);
    else {
      const old =
        overlapSeconds === 0
          ? "The old secret stops working within a second."
          : `The old secret remains valid until ${until}.`;
      console.log(`${rotated.key}\n\nSave this secret now: it is not shown again. ${old}`);
    }
    return EXIT.ok;
  },
});

const revoke = defineVerb({
  name: "revoke",
  usage: "ID",
  summary: "revoke a key by id or name, along with the keys it created",
  flags: GATEWAY_FLAGS,
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Missing key. Pass the id or name of the key to revoke.");
    const revoked = await atGateway(
      values,
      async (client) => (await client.change("DELETE", `/api/keys/${encodeURIComponent(id)}`)) as KeyView,
      () =>
        withStorage(values.config, async (storage, config) => {
          await checkStoredKey(id, storage, config, "remove");
          return keyView(await revokeKey(storage, id, system, COMMAND_LINE));
        }),
    );
    if (values.json) printJson(revoked);
    else console.log(`Revoked ${revoked.name} (${revoked.id}). Running gateways reject it within a second.`);
    return EXIT.ok;
  },
});

/** A key of the configuration is used as written there, whatever the storage holds under its name. */
async function checkStoredKey(
  idOrName: string,
  storage: Storage,
  config: Config,
  change: "remove" | "change",
): Promise<void> {
  const configured = config.keys.find(({ name }) => name === idOrName || staticKeyId(name) === idOrName);
  if (!configured) return;
  const stored = await listKeys(storage);
  if (stored.some(({ name, revokedAtMs }) => name === idOrName && revokedAtMs === undefined)) return;
  throw new GatewayError(
    "invalid_request",
    `The key ${configured.name} is defined in the configuration; ${change} it there.`,
  );
}

export const keys = withVerbs([create, list, showKey, update, rotate, revoke]);
