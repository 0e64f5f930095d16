import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { installInto } from "../../conformance/agents/install.ts";
import { VENDORS, type Vendor } from "./fact.ts";
import type { Language } from "./source-names.ts";

/** The official SDKs, by the names that they have in the registries. */
export const PACKAGES: Readonly<Record<Language, Readonly<Record<Vendor, string>>>> = {
  TypeScript: { OpenAI: "openai", Anthropic: "@anthropic-ai/sdk", Google: "@google/genai" },
  Python: { OpenAI: "openai", Anthropic: "anthropic", Google: "google-genai" },
};

const namesOf = (language: Language): string[] => VENDORS.map((vendor) => PACKAGES[language][vendor]);

/** Installs the newest SDKs for TypeScript, from the registry that npm uses on this machine, and returns their `node_modules`. */
export async function fetchTypeScript(folder: string): Promise<string> {
  const newest = namesOf("TypeScript").map((name) => `${name}@latest`);
  await installInto(folder, [
    ["npm", "install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", ...newest],
  ]);
  return join(folder, "node_modules");
}

/**
 * Downloads the newest SDKs for Python, from the index that pip uses on this machine, and returns the folder of their unpacked wheels. Nothing of
 * them runs. Undefined if this machine has no Python with pip.
 */
export async function fetchPython(folder: string): Promise<string | undefined> {
  const hasPip = Bun.which("python3") !== null && Bun.spawnSync(["python3", "-m", "pip", "--version"]).success;
  if (!hasPip) return undefined;
  const wheels = join(folder, "wheels");
  const unpacked = join(folder, "unpacked");
  const download = [
    "python3",
    "-m",
    "pip",
    "download",
    "--quiet",
    "--no-deps",
    "--only-binary",
    ":all:",
    "--dest",
    wheels,
  ];
  await installInto(folder, [
    [...download, ...namesOf("Python")],
    ["python3", "-c", UNPACK, wheels, unpacked],
  ]);
  return unpacked;
}

/** A wheel is a zip file. */
const UNPACK =
  "import glob, sys, zipfile\nfor wheel in glob.glob(sys.argv[1] + '/*.whl'): zipfile.ZipFile(wheel).extractall(sys.argv[2])";

/** The versions in a `node_modules`. */
export const typeScriptVersion = (folder: string, vendor: Vendor): string => {
  const manifest = join(folder, PACKAGES.TypeScript[vendor], "package.json");
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
};

/** The versions in a folder of unpacked wheels, which the names of their metadata contain. */
export const pythonVersion = (folder: string, vendor: Vendor): string => {
  const name = PACKAGES.Python[vendor].replaceAll("-", "_");
  const found = existsSync(folder) ? readdirSync(folder) : [];
  return found.map((each) => new RegExp(`^${name}-(.+)\\.dist-info$`).exec(each)?.[1]).find(Boolean) ?? "unknown";
};
