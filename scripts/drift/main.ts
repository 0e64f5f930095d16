import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { VENDORS, type Vendor } from "./fact.ts";
import { fetchPython, fetchTypeScript, pythonVersion, typeScriptVersion } from "./fetch-sdks.ts";
import { type Comparison, driftPage } from "./page.ts";
import { type Declared, readPythonFacts, readTypeScriptFacts } from "./read-facts.ts";

const USAGE = `Usage: npm run drift [-- options]

Lists what the newest official SDKs declare and the gateway does not know, as Markdown.

  --folder <path>  keep the SDKs in this folder, and use those that are there
  --pinned         compare the SDKs of node_modules, without a network

The exit code is 1 if something is unknown that scripts/drift/exceptions.ts does not explain.`;

const PINNED = join(import.meta.dir, "../../node_modules");

/** One set of SDKs: what it declares, and its versions. */
interface Source {
  readonly declared: Declared;
  version(vendor: Vendor): string;
}

async function typeScriptIn(folder: string): Promise<Source> {
  return { declared: await readTypeScriptFacts(folder), version: (vendor) => typeScriptVersion(folder, vendor) };
}

async function newestIn(folder: string): Promise<{ sources: Source[]; remarks: string[] }> {
  const sources = [await typeScriptIn(await fetchTypeScript(join(folder, "npm")))];
  const python = await fetchPython(join(folder, "pip"));
  if (python === undefined) {
    return { sources, remarks: ["This machine has no Python with pip: only the SDKs for TypeScript were compared."] };
  }
  const version = (vendor: Vendor) => pythonVersion(python, vendor);
  return { sources: [...sources, { declared: readPythonFacts(python), version }], remarks: [] };
}

async function compare(folder: string | undefined): Promise<Comparison> {
  const pinned = await typeScriptIn(PINNED);
  const { sources, remarks } = folder === undefined ? { sources: [pinned], remarks: [] } : await newestIn(folder);
  const versionsOf = (vendor: Vendor) => [pinned, ...sources].map(({ version }) => version(vendor));
  return {
    date: new Date().toISOString().slice(0, 10),
    pinned: pinned.declared,
    newest: sources.map(({ declared }) => declared),
    versions: new Map(VENDORS.map((vendor) => [vendor, versionsOf(vendor)])),
    remarks,
  };
}

const { values } = parseArgs({
  options: { folder: { type: "string" }, pinned: { type: "boolean" }, help: { type: "boolean", short: "h" } },
});
if (values.help) console.log(USAGE);
else {
  const scratch =
    values.folder === undefined && !values.pinned ? mkdtempSync(join(tmpdir(), "trivium-drift-")) : undefined;
  try {
    if (values.folder !== undefined) mkdirSync(values.folder, { recursive: true });
    const { text, open } = driftPage(await compare(values.pinned ? undefined : (values.folder ?? scratch)));
    console.log(text);
    process.exitCode = open === 0 ? 0 : 1;
  } finally {
    if (scratch !== undefined) rmSync(scratch, { recursive: true, force: true });
  }
}
