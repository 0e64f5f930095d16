import { existsSync, readFileSync } from "node:fs";
import { chmod, rename, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type LiveResult, tryProvider } from "../../app/try-provider.ts";
import { Secret } from "../../base/secret.ts";
import { system } from "../../base/system.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { GatewayError } from "../../canon/error.ts";
import type { ProviderSettings } from "../../config/config.ts";
import { changeEnvFile, readEnvFile } from "../../config/env-file.ts";
import { nearestName } from "../../config/nearest-name.ts";
import { createProvider, PROVIDER_KINDS } from "../../providers/index.ts";
import { defineCommand, EXIT, type Given, printJson, UsageError } from "../command.ts";
import { programName } from "../program-name.ts";
import { AskingEnded, ask, confirm } from "./ask.ts";

const FILE = "trivium.yaml";
const ENV_FILE = ".env";
/** Offered by name; all others only on request. */
const FIRST_KINDS = ["openai", "anthropic", "gemini"];
const KEY = /^[\x21-\x7e]{1,4096}$/;

const FLAGS = {
  yes: { type: "boolean", default: false, about: "do not prompt; use the keys from the environment and --keys-stdin" },
  "keys-stdin": { type: "boolean", default: false, about: "read keys from standard input, one PROVIDER=KEY per line" },
  "base-url": {
    type: "string",
    multiple: true,
    default: [] as string[],
    value: "PROVIDER=URL",
    about: "custom base URL for a provider, such as a proxy",
  },
  "no-check": { type: "boolean", default: false, about: "do not check the keys" },
  force: { type: "boolean", default: false, about: `overwrite ${FILE} and update ${ENV_FILE}` },
} as const;

type Values = Given<typeof FLAGS>["values"];

/** A provider to set up. */
interface Candidate {
  kind: string;
  /** The variable in which the vendor's own tools look for the key. */
  variable: string;
  key: string;
  /** A key of the environment stays there; others are written to a file. */
  source: "environment" | "given";
  baseUrl?: string;
}

interface SetUp extends Candidate {
  result: LiveResult | undefined;
}

/** The kinds that need only one key in one variable. */
const KINDS: ReadonlyMap<string, string> = new Map(
  [...PROVIDER_KINDS.values()].flatMap(({ kind, variables = {} }) => {
    const [[field, variable] = [], ...more] = Object.entries(variables);
    return field === "api_key" && variable !== undefined && more.length === 0 ? [[kind, variable] as const] : [];
  }),
);

export const init = defineCommand({
  flags: FLAGS,
  run: async ({ values }) => {
    const interactive = !values.yes;
    if (interactive && (values["keys-stdin"] || !process.stdin.isTTY)) {
      throw new UsageError(
        "Standard input is not a terminal. Pass --yes, and provide keys in the environment or with --keys-stdin.",
      );
    }
    try {
      return await setUp(values, interactive);
    } catch (thrown) {
      if (!(thrown instanceof AskingEnded)) throw thrown;
      console.error("Aborted. No files were written.");
      return EXIT.interrupted;
    }
  },
});

async function setUp(values: Values, interactive: boolean): Promise<number> {
  const baseUrls = readBaseUrls(values["base-url"]);
  await mayWrite(FILE, values.force, interactive);
  const found = await foundKeys(values, baseUrls);
  const chosen = await Promise.all(found.map((one) => tried(one, values)));
  if (interactive) {
    for (const one of chosen) tell(one);
    await askForKeys(chosen, values, baseUrls);
  }
  const good = chosen.filter(({ result }) => result?.state !== "rejected");
  const given = good.filter(({ source }) => source === "given");
  if (given.length > 0) await mayWrite(ENV_FILE, values.force, interactive);
  const refused = chosen.length - good.length;
  // Without a terminal, a request that cannot be met is an error and is not skipped.
  if (refused > 0 && !interactive) {
    report(chosen, [], values.json);
    for (const { kind, variable, source } of chosen.filter((one) => !good.includes(one))) {
      const cure = source === "environment" ? `Correct or unset ${variable}` : "Give another key";
      tellPerson(`${FILE} was not written: the key for ${kind} was rejected. ${cure}, or pass --no-check.`);
    }
    return EXIT.failed;
  }
  const files = await writeFiles(good, given);
  report(chosen, files, values.json);
  return EXIT.ok;
}

async function mayWrite(file: string, force: boolean, interactive: boolean): Promise<void> {
  if (force || !existsSync(file)) return;
  const change = file === FILE ? "overwrite" : "update";
  if (interactive) {
    if (await confirm(`${file} already exists. ${file === FILE ? "Overwrite" : "Update"} it?`)) return;
    throw new AskingEnded();
  }
  throw new UsageError(`${file} already exists. Pass --force to ${change} it. No files were written.`);
}

function readBaseUrls(flags: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    flags.map((flag) => {
      const [kind = "", ...rest] = flag.split("=");
      const url = rest.join("=");
      if (!KINDS.has(kind) || !/^https?:\/\//.test(url) || !URL.canParse(url)) {
        throw new UsageError(`--base-url: "${flag}" does not have the form PROVIDER=URL.`);
      }
      return [kind, url];
    }),
  );
}

/** Keys of the environment, and those of standard input over them. */
async function foundKeys(values: Values, baseUrls: ReadonlyMap<string, string>): Promise<Candidate[]> {
  const candidates = new Map<string, Candidate>();
  for (const [kind, variable] of KINDS) {
    const key = process.env[variable]?.trim();
    if (key) candidates.set(kind, candidate(kind, key, "environment", baseUrls));
  }
  if (values["keys-stdin"]) {
    for (const line of (await Bun.stdin.text()).split("\n")) {
      if (line.trim() === "") continue;
      const [name = "", ...rest] = line.trim().split("=");
      const kind = kindOf(name);
      if (!kind) throw new UsageError(`--keys-stdin: unknown provider "${name}".${guess(name)}`);
      candidates.set(kind, candidate(kind, rest.join("=").trim(), "given", baseUrls));
    }
  }
  return [...KINDS.keys()].flatMap((kind) => candidates.get(kind) ?? []);
}

/** By its own name or by that of its variable. */
const kindOf = (name: string): string | undefined =>
  KINDS.has(name) ? name : [...KINDS].find(([, variable]) => variable === name)?.[0];

function guess(name: string): string {
  const near = nearestName(name, KINDS.keys());
  return near === undefined ? ` Known providers: ${[...KINDS.keys()].join(", ")}.` : ` Did you mean ${near}?`;
}

function candidate(
  kind: string,
  key: string,
  source: Candidate["source"],
  baseUrls: ReadonlyMap<string, string>,
): Candidate {
  if (!KEY.test(key))
    throw new UsageError(`The key for ${kind} must consist of visible ASCII characters without spaces.`);
  const baseUrl = baseUrls.get(kind);
  return { kind, variable: KINDS.get(kind) ?? "", key, source, ...withoutAbsent({ baseUrl }) };
}

async function tried(one: Candidate, values: Values): Promise<SetUp> {
  if (values["no-check"]) return { ...one, result: undefined };
  const settings: ProviderSettings = {
    name: one.kind,
    kind: one.kind,
    apiKey: new Secret(one.key),
    ...withoutAbsent({ baseUrl: one.baseUrl }),
  };
  return { ...one, result: await tryProvider(createProvider(settings, system)) };
}

/** Adds to what was found. A key that is rejected is asked for again. */
async function askForKeys(chosen: SetUp[], values: Values, baseUrls: ReadonlyMap<string, string>): Promise<void> {
  const has = (kind: string) => chosen.some((one) => one.kind === kind && one.result?.state !== "rejected");
  const askFor = async (kind: string): Promise<void> => {
    for (;;) {
      const key = (await ask(`${kind} API key (hidden; Enter to skip): `, { hidden: true })).trim();
      if (key === "") return;
      if (!KEY.test(key)) {
        tellPerson("A key consists of visible ASCII characters without spaces. Try again.");
        continue;
      }
      const one = await tried(candidate(kind, key, "given", baseUrls), values);
      tell(one);
      if (one.result?.state === "rejected") continue;
      const index = chosen.findIndex((other) => other.kind === kind);
      chosen.splice(index < 0 ? chosen.length : index, index < 0 ? 0 : 1, one);
      return;
    }
  };
  for (const kind of FIRST_KINDS) if (!has(kind)) await askFor(kind);
  const others = [...KINDS.keys()].filter((kind) => !FIRST_KINDS.includes(kind));
  tellPerson(
    `Other providers that need only an API key: ${others.join(", ")}. For all others, see docs/configuration.md.`,
  );
  for (;;) {
    const name = (await ask("Another provider (name, or Enter to finish): ")).trim();
    if (name === "") return;
    const kind = kindOf(name);
    if (kind) await askFor(kind);
    else tellPerson(`The provider "${name}" is unknown or needs more than an API key.${guess(name)}`);
  }
}

/** Printed next to the questions; `console.error` of the runtime would be red. */
const tellPerson = (line: string) => void process.stderr.write(`${line}\n`);

/** For the person who answers questions. */
function tell({ kind, variable, source, result }: SetUp): void {
  const where = source === "environment" ? ` (from ${variable})` : "";
  tellPerson(`  ${kind}${where}: ${result === undefined ? "not checked" : result.detail}`);
}

/** All files or none; keys are in a file that only its owner can read. */
async function writeFiles(good: readonly SetUp[], given: readonly SetUp[]): Promise<string[]> {
  const files: string[] = [];
  if (given.length > 0) {
    const before = existsSync(ENV_FILE) ? readFileSync(ENV_FILE, "utf8") : "";
    const variables = Object.fromEntries(given.map(({ variable, key }) => [variable, key]));
    const text = changeEnvFile(before, variables);
    // A key that is read back differently would be rejected later without an obvious reason.
    const read = readEnvFile(text);
    for (const [name, key] of Object.entries(variables)) {
      if (read[name] !== key) throw new Error(`${ENV_FILE} cannot hold ${name}`);
    }
    await replaceFile(ENV_FILE, text, 0o600);
    files.push(ENV_FILE);
  }
  await replaceFile(FILE, configText(good), 0o644);
  files.push(FILE);
  return files;
}

async function replaceFile(file: string, text: string, mode: number): Promise<void> {
  const temporary = join(".", `.${file}.${process.pid}.part`);
  try {
    await writeFile(temporary, text, { mode, flag: "wx" });
    await chmod(temporary, mode);
    await rename(temporary, file);
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    throw new GatewayError(
      "internal",
      `Cannot write ${resolve(file)}: ${reason}. Run this command in a folder that you can write to.`,
      {
        cause: thrown,
      },
    );
  }
}

function configText(providers: readonly SetUp[]): string {
  const entries = providers.flatMap(({ kind, variable, baseUrl }) => [
    `  ${kind}:`,
    `    kind: ${kind}`,
    `    api_key: \${${variable}}`,
    ...(baseUrl === undefined ? [] : [`    base_url: ${JSON.stringify(baseUrl)}`]),
  ]);
  return [
    "# Written by `trivium init`. docs/configuration.md describes every field.",
    "# Variables are read from the environment, or from the file .env next to this one.",
    "server:",
    "  host: 127.0.0.1",
    "  port: 8787",
    "simulator: true # provides the models sim/…, which need no account",
    entries.length === 0 ? "providers: {}" : "providers:",
    ...entries,
    "",
  ].join("\n");
}

function report(chosen: readonly SetUp[], files: readonly string[], json: boolean): void {
  if (json) {
    const providers = chosen.map(({ kind, variable, source, result }) => ({
      provider: kind,
      variable,
      source,
      state: result?.state ?? "unchecked",
      detail: result?.detail ?? "not checked",
    }));
    printJson({ files, providers });
    return;
  }
  for (const { kind, result } of chosen) console.log(`${kind}: ${result?.detail ?? "not checked"}`);
  if (chosen.length === 0) console.log("No provider keys found. Only the simulator's models will be available.");
  if (files.length === 0) return;
  console.log(`Wrote ${files.join(" and ")}.`);
  if (files.includes(ENV_FILE)) console.log(`${ENV_FILE} contains secrets. Keep it out of version control.`);
  console.log(`Start the gateway with: ${programName()} serve`);
}
