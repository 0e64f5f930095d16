import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { readConfigInForce } from "../../app/read-config-in-force.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import { ConfigError } from "../../config/load.ts";
import { defineCommand, EXIT, printJson, UsageError } from "../command.ts";
import { configSource } from "../config-source.ts";
import type { ImportDraft, ImportNote } from "../import/import-draft.ts";
import { programName } from "../program-name.ts";

const FILE = "trivium.yaml";
const MAX_BYTES = 16 * 1024 * 1024;

type Read = (file: JsonObject | readonly unknown[], fileExists: (path: string) => boolean) => ImportDraft;

const SOURCES: Readonly<Record<string, () => Promise<Read>>> = {
  litellm: async () => {
    const { fromLitellm } = await import("../import/from-litellm.ts");
    return (file, fileExists) => fromLitellm(objectOf(file), fileExists);
  },
  bifrost: async () => {
    const { fromBifrost } = await import("../import/from-bifrost.ts");
    return (file, fileExists) => fromBifrost(objectOf(file), fileExists);
  },
  "new-api": async () => (await import("../import/from-new-api.ts")).fromNewApi,
};

const objectOf = (file: JsonObject | readonly unknown[]): JsonObject => {
  if (isObject(file)) return file;
  throw new GatewayError("invalid_request", "The file must be a mapping of settings, not a list.");
};

/** `importConfig`, because `import` is a word of the language. */
export const importConfig = defineCommand({
  flags: {},
  takes: 2,
  run: async ({ values, positionals: [source = "", path] }) => {
    const load = Object.hasOwn(SOURCES, source) ? SOURCES[source] : undefined;
    if (load === undefined)
      throw new UsageError(`Missing or unknown source "${source}". Use one of ${Object.keys(SOURCES).join(", ")}.`);
    if (!path) throw new UsageError("Missing file. Pass the path of the configuration to import.");
    // Before the work: the file of a running gateway must not be replaced.
    const target = resolve(FILE);
    if (existsSync(target)) throw existing();
    const read = await load();
    const draft = read(await parsed(path), (file) => existsSync(resolve(file)));
    const { stringify } = await import("yaml");
    const text = stringify(draft.file(), { defaultStringType: "QUOTE_DOUBLE", defaultKeyType: "PLAIN", lineWidth: 0 });
    try {
      await writeFile(target, `# Imported from ${source} by trivium import.\n${text}`, { flag: "wx", mode: 0o600 });
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "EEXIST") throw existing();
      throw cause;
    }
    const problems = await problemsOf();
    const { taken, approximated, left } = draft;
    if (values.json) printJson({ file: FILE, taken, approximated, not_taken: left, problems });
    else tell({ source, draft, problems });
    return EXIT.ok;
  },
});

const existing = (): GatewayError =>
  new GatewayError(
    "invalid_request",
    `${FILE} already exists in this folder. Import into an empty folder, and compare.`,
  );

async function parsed(path: string): Promise<JsonObject | readonly unknown[]> {
  const bytes = await readFile(path).catch((cause: NodeJS.ErrnoException) => {
    throw new GatewayError("invalid_request", `Cannot read ${path}: ${cause.code ?? cause.message}.`, { cause });
  });
  if (bytes.length > MAX_BYTES)
    throw new GatewayError("invalid_request", `${path} is larger than 16 MB, so it cannot be a configuration.`);
  const { parse } = await import("yaml");
  let value: unknown;
  try {
    // JSON is YAML, too.
    value = parse(bytes.toString("utf8"), { uniqueKeys: false, logLevel: "error" });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
    throw new GatewayError("invalid_request", `${path} is not valid YAML or JSON: ${reason}`, { cause });
  }
  if (isObject(value) || Array.isArray(value)) return value;
  throw new GatewayError("invalid_request", `${path} contains no settings.`);
}

/** What must still be done before a gateway starts with the file. */
async function problemsOf(): Promise<string[]> {
  try {
    await readConfigInForce(configSource(FILE));
    return [];
  } catch (thrown) {
    if (thrown instanceof ConfigError) return thrown.problems.map(({ message }) => message);
    throw thrown;
  }
}

function tell({ source, draft, problems }: { source: string; draft: ImportDraft; problems: readonly string[] }): void {
  const { taken, approximated, left } = draft;
  console.log(`Wrote ${FILE} from the configuration of ${source}.`);
  list("Imported", taken);
  list("Imported with a difference", approximated);
  list("Not imported", left);
  if (problems.length > 0) {
    console.log("\nTo do before you start the gateway:");
    for (const problem of problems) console.log(`  ${problem}`);
  }
  console.log(`\nNext: \`${programName()} check\`, then \`${programName()} serve\`.`);
}

function list(title: string, notes: readonly ImportNote[]): void {
  console.log(`\n${title}: ${notes.length === 0 ? "nothing" : ""}`.trimEnd());
  for (const { path, note } of notes) console.log(`  ${path}: ${note}`);
}
