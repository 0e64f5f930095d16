import { readLimits } from "../access/key-limits.ts";
import { createKey, type KeySummary, listKeys, revokeKey } from "../access/keys.ts";
import { DIALECT_NAMES, type DialectName } from "../canon/dialect-name.ts";
import { type Command, EXIT, printJson, printTable, readFlags, UsageError } from "./command.ts";
import { withStorage } from "./with-storage.ts";

export const keys: Command = {
  name: "keys",
  usage: "create --name NAME | list | revoke ID",
  summary: "make, show and revoke API keys",
  run: async ([verb = "list", ...args]) => {
    if (verb === "create") return create(args);
    if (verb === "list") return list(args);
    if (verb === "revoke") return revoke(args);
    throw new UsageError(`There is no "keys ${verb}".`);
  },
};

async function create(args: readonly string[]): Promise<number> {
  const { values } = readFlags(args, {
    name: { type: "string" },
    project: { type: "string", default: "default" },
    models: { type: "string" },
    protocols: { type: "string" },
    expires: { type: "string" },
    limit: { type: "string", multiple: true, default: [] },
    strict: { type: "boolean", default: false },
  });
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
  if (values.json) printJson(created);
  else console.log(`${created.key}\n\nThis is the only time that the key is shown. Its id is ${created.id}.`);
  return EXIT.ok;
}

async function list(args: readonly string[]): Promise<number> {
  const { values } = readFlags(args, { project: { type: "string" } });
  const filter = values.project === undefined ? {} : { project: values.project };
  const found = await withStorage(values.config, (storage) => listKeys(storage, filter));
  if (values.json) printJson(found);
  else printTable(["id", "name", "project", "key", "models", "made", "state"], found.map(row));
  return EXIT.ok;
}

async function revoke(args: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags(args, {});
  const [id] = positionals;
  if (!id) throw new UsageError("Name the key to revoke by its id or its name.");
  const revoked = await withStorage(values.config, (storage) => revokeKey(storage, id));
  if (values.json) printJson(revoked);
  else console.log(`${revoked.name} (${revoked.id}) is revoked; running gateways refuse it within a second.`);
  return EXIT.ok;
}

function row(key: KeySummary): string[] {
  const state = key.revokedAtMs !== undefined ? "revoked" : isExpired(key) ? "expired" : "valid";
  const made = new Date(key.createdAtMs).toISOString().slice(0, 10);
  return [key.id, key.name, key.project, `…${key.hint}`, key.models.join(","), made, state];
}

const isExpired = ({ expiresAtMs }: KeySummary) => expiresAtMs !== undefined && expiresAtMs <= Date.now();

function readProtocol(name: string): DialectName {
  const known = DIALECT_NAMES.find((dialect) => dialect === name);
  if (!known) throw new UsageError(`--protocols: "${name}" is not one of ${DIALECT_NAMES.join(", ")}.`);
  return known;
}

function readDate(text: string): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new UsageError(`--expires: "${text}" is not a date such as 2027-01-31.`);
  return ms;
}

/** `--limit requestsPerMinute=600` */
function readLimit(text: string): [string, number] {
  const [name = "", value = ""] = text.split("=");
  if (value === "" || Number.isNaN(Number(value))) throw new UsageError(`--limit: "${text}" is not NAME=NUMBER.`);
  return [name, Number(value)];
}
