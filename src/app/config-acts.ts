import { createHash } from "node:crypto";
import { recordAct } from "../access/audit.ts";
import { isObject } from "../base/json.ts";
import { Secret } from "../base/secret.ts";
import type { Sources } from "../base/sources.ts";
import type { Config } from "../config/config.ts";
import type { Storage } from "../storage/storage.ts";
import { claimSetting, readSetting, replaceSetting } from "../storage/tables/settings.ts";
import { valuesOf } from "./admin-config.ts";

/** A change of the configuration, in the words of its file. */
interface ConfigAct {
  /** Such as `providers.acme`, or `server` if it is no list of named entries. */
  target: string;
  before?: unknown;
  after?: unknown;
}

type Values = Readonly<Record<string, unknown>>;

/** What was in force, for people and to compare. Secrets are only compared. */
interface InForce {
  shown: Values;
  compared: Values;
}

/** Where an instance runs. Several instances share the rest. */
const OWN_SECTIONS: readonly string[] = ["data_dir", "storage", "files"];
const OWN_FIELDS: readonly string[] = ["host", "port", "public_url"];

function inForce(config: Config): InForce {
  const compared = valuesOf(config, function (name, value) {
    const raw = (this as Values)[name];
    return raw instanceof Secret ? createHash("sha256").update(raw.reveal()).digest("hex") : value;
  });
  return { shown: withoutPlace(valuesOf(config)), compared: withoutPlace(compared) };
}

const without = (values: Values, names: readonly string[]): Values =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));

const withoutPlace = (values: Values): Values =>
  Object.fromEntries(
    Object.entries(without(values, OWN_SECTIONS)).map(([name, value]) => [
      name,
      (name === "server" || name === "admin") && isObject(value) ? without(value, OWN_FIELDS) : value,
    ]),
  );

/** An act for each entry that was added, removed or changed, and for each other section. */
function configActs(before: InForce, after: InForce): ConfigAct[] {
  const sections = new Set([...Object.keys(before.shown), ...Object.keys(after.shown)]);
  return [...sections].flatMap((section) => {
    const [was, is] = [entriesOf(before, section), entriesOf(after, section)];
    return [...new Set([...was.keys(), ...is.keys()])].flatMap((name) => {
      const target = name === "" ? section : `${section}.${name}`;
      return actOf(target, was.get(name), is.get(name)) ?? [];
    });
  });
}

interface Entry {
  shown: unknown;
  compared: unknown;
}

/** The entries of a section by name; a section without named entries is one entry without a name. */
function entriesOf({ shown, compared }: InForce, section: string): Map<string, Entry> {
  if (!(section in shown)) return new Map();
  const [of, like] = [shown[section], compared[section]];
  if (!Array.isArray(of) || !Array.isArray(like)) return new Map([["", { shown: of, compared: like }]]);
  const names = of.map((item: unknown) => (isObject(item) ? (item["name"] ?? item["id"]) : undefined));
  if (!names.every((name) => typeof name === "string")) return new Map([["", { shown: of, compared: like }]]);
  return new Map(names.map((name, at) => [name, { shown: of[at] as unknown, compared: like[at] as unknown }]));
}

function actOf(target: string, was: Entry | undefined, is: Entry | undefined): ConfigAct | undefined {
  if (was === undefined || is === undefined) {
    const [empty] = [was?.shown, is?.shown].filter((value) => value !== undefined);
    if (Array.isArray(empty) && empty.length === 0) return undefined;
    return { target, ...(was && { before: was.shown }), ...(is && { after: is.shown }) };
  }
  if (JSON.stringify(was.compared) === JSON.stringify(is.compared)) return undefined;
  if (!isObject(was.compared) || !isObject(is.compared)) return { target, before: was.shown, after: is.shown };
  const names = [...new Set([...Object.keys(was.compared), ...Object.keys(is.compared)])];
  const changed = names.filter((name) => textOf(was.compared, name) !== textOf(is.compared, name));
  const pick = (from: unknown) =>
    Object.fromEntries(changed.flatMap((name) => (isObject(from) && name in from ? [[name, from[name]]] : [])));
  return { target, before: pick(was.shown), after: pick(is.shown) };
}

const textOf = (holder: unknown, name: string): string | undefined =>
  isObject(holder) ? JSON.stringify(holder[name]) : undefined;

const SETTING = "configuration_in_force";

/**
 * Writes changes of the configuration to the audit log, including those made while no gateway ran. Processes that read the same
 * configuration record it once.
 */
export class ConfigRecord {
  readonly #storage: Storage;
  readonly #sources: Sources;
  #last: InForce | undefined;

  constructor(storage: Storage, sources: Sources) {
    this.#storage = storage;
    this.#sources = sources;
  }

  /** `isFirst`: no other process of this machine has read it before. */
  async record(config: Config, isFirst: boolean): Promise<void> {
    const now = inForce(config);
    const last = this.#last;
    this.#last = now;
    const text = JSON.stringify(now.shown);
    await this.#storage.transaction(async (queries) => {
      const stored = await readSetting(queries, SETTING);
      if (stored === undefined) {
        await claimSetting(queries, SETTING, text);
        return;
      }
      const isSame = stored === text;
      // A secret shows no difference, so only a process that has seen both can tell that it changed.
      if (isSame && (last === undefined || !isFirst)) return;
      if (!isSame && !(await replaceSetting(queries, SETTING, { from: stored, to: text }))) return;
      const shown = JSON.parse(stored) as Values;
      const before = last !== undefined && JSON.stringify(last.shown) === stored ? last : { shown, compared: shown };
      const after = before === last ? now : { shown: now.shown, compared: now.shown };
      for (const { target, ...values } of configActs(before, after))
        await recordAct(queries, { who: "gateway", act: "config.change", target, ...values }, this.#sources);
    });
  }
}
