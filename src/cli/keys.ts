import { hintOf } from "../access/key-hash.ts";
import { LIMIT_NAMES, readLimits } from "../access/key-limits.ts";
import { KEY_WATCH_MS, staticKeyId } from "../access/key-ring.ts";
import { createKey, type KeySummary, listKeys, revokeKey } from "../access/keys.ts";
import { staticKeys } from "../app/static-keys.ts";
import { DIALECT_NAMES, type DialectName } from "../canon/dialect-name.ts";
import { GatewayError } from "../canon/error.ts";
import { readMoment } from "../canon/moment.ts";
import type { Config } from "../config/config.ts";
import type { Storage } from "../storage/storage.ts";
import { type Command, defineCommand, EXIT, isHelpFlag, printJson, printTable, UsageError } from "./command.ts";
import { withStorage } from "./with-storage.ts";

/** Running gateways look for changes; who uses the key the moment it is shown must not be refused. */
const KNOWN_WITHIN_MS = KEY_WATCH_MS + 100;

const create = defineCommand({
  name: "keys create",
  usage: "--name NAME …",
  summary: "make a key and show it, once",
  flags: {
    name: { type: "string", value: "NAME", about: "what the key is called" },
    project: { type: "string", default: "default", value: "P", about: "what its calls are booked on" },
    models: { type: "string", value: "LIST", about: 'these models only, such as "sim/*,openai/*"' },
    protocols: { type: "string", value: "LIST", about: `these only, of ${DIALECT_NAMES.join(",")}` },
    expires: { type: "string", value: "DATE", about: "the end of the key, such as 2027-01-31" },
    limit: {
      type: "string",
      multiple: true,
      default: [],
      value: "NAME=NUMBER",
      about: `one of ${LIMIT_NAMES.join(", ")}`,
    },
    strict: { type: "boolean", default: false, about: "refuse what cannot be honoured to the letter" },
  },
  run: async ({ values }) => {
    if (!values.name) throw new UsageError("--name is missing.");
    const { name, project } = values;
    const created = await withStorage(values.config, (storage) =>
      createKey(storage, {
        name,
        project,
        ...(values.models === undefined ? {} : { models: values.models.split(",") }),
        ...(values.protocols === undefined ? {} : { protocols: values.protocols.split(",").map(readProtocol) }),
        ...(values.expires === undefined ? {} : { expiresAtMs: readDate(values.expires) }),
        limits: readLimits(Object.fromEntries(values.limit.map(readLimit))),
        ...(values.strict ? { strict: true } : {}),
      }),
    );
    await Bun.sleep(KNOWN_WITHIN_MS);
    if (values.json) printJson(created);
    else console.log(`${created.key}\n\nThis is the only time that the key is shown. Its id is ${created.id}.`);
    return EXIT.ok;
  },
});

const list = defineCommand({
  name: "keys list",
  usage: "[--project P]",
  summary: "show the keys, without the keys themselves",
  flags: { project: { type: "string", value: "P", about: "keys of this project only" } },
  run: async ({ values }) => {
    const filter = values.project === undefined ? {} : { project: values.project };
    const found = await withStorage(
      values.config,
      async (storage, config): Promise<ListedKey[]> => [
        ...configuredKeys(config).filter(({ project }) => project === (values.project ?? project)),
        ...(await listKeys(storage, filter)),
      ],
    );
    if (values.json) printJson(found);
    else printTable(["id", "name", "project", "key", "models", "made", "state"], found.map(row));
    return EXIT.ok;
  },
});

const revoke = defineCommand({
  name: "keys revoke",
  usage: "ID",
  summary: "revoke the key of that id or name",
  flags: {},
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Name the key to revoke by its id or its name.");
    const revoked = await withStorage(values.config, async (storage, config) => {
      await checkStored(id, storage, config);
      return revokeKey(storage, id);
    });
    if (values.json) printJson(revoked);
    else console.log(`${revoked.name} (${revoked.id}) is revoked; running gateways refuse it within a second.`);
    return EXIT.ok;
  },
});

const VERBS: readonly Command[] = [create, list, revoke];

export const keys: Command = {
  name: "keys",
  usage: "create --name NAME | list | revoke ID",
  summary: "make, show and revoke API keys",
  help: () => VERBS.map((verb) => verb.help()).join("\n\n"),
  run: async ([verb = "list", ...args]) => {
    if (isHelpFlag(verb)) {
      console.log(keys.help());
      return EXIT.ok;
    }
    const command = VERBS.find(({ name }) => name === `keys ${verb}`);
    if (!command) throw new UsageError(`There is no "keys ${verb}".`);
    return command.run(args);
  },
};

/** A key of the configuration works until it is gone from there, whatever the storage says of its name. */
async function checkStored(idOrName: string, storage: Storage, config: Config): Promise<void> {
  const configured = config.keys.find(({ name }) => name === idOrName || staticKeyId(name) === idOrName);
  if (!configured) return;
  const stored = await listKeys(storage);
  if (stored.some(({ name, revokedAtMs }) => name === idOrName && revokedAtMs === undefined)) return;
  throw new GatewayError("invalid_request", `${configured.name} is kept in the configuration; remove it there.`);
}

/** A key as it is listed; those of the configuration have no day on which they were made. */
type ListedKey = Omit<KeySummary, "createdAtMs"> & { createdAtMs?: number };

const configuredKeys = (config: Config): ListedKey[] =>
  staticKeys(config).map(({ key, limits, ...rest }) => ({
    ...rest,
    id: staticKeyId(rest.name),
    hint: hintOf(key),
    limits: { ...limits },
  }));

function row(key: ListedKey): string[] {
  const state = key.revokedAtMs !== undefined ? "revoked" : isExpired(key) ? "expired" : "valid";
  const made = key.createdAtMs === undefined ? "configured" : new Date(key.createdAtMs).toISOString().slice(0, 10);
  return [key.id, key.name, key.project, `…${key.hint}`, key.models.join(","), made, state];
}

const isExpired = ({ expiresAtMs }: ListedKey) => expiresAtMs !== undefined && expiresAtMs <= Date.now();

function readProtocol(name: string): DialectName {
  const known = DIALECT_NAMES.find((dialect) => dialect === name);
  if (!known) throw new UsageError(`--protocols: "${name}" is not one of ${DIALECT_NAMES.join(", ")}.`);
  return known;
}

function readDate(text: string): number {
  const ms = readMoment(text);
  if (ms === undefined) throw new UsageError(`--expires: "${text}" is not a date such as 2027-01-31.`);
  return ms;
}

/** `--limit requestsPerMinute=600` */
function readLimit(text: string): [string, number] {
  const [name = "", value = ""] = text.split("=");
  if (value === "" || Number.isNaN(Number(value))) throw new UsageError(`--limit: "${text}" is not NAME=NUMBER.`);
  return [name, Number(value)];
}
