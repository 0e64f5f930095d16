/**
 * `npm run build:binary`: the program and its runtime in one file for each kind of machine, with checksums and a list of what is
 * in it. The same source and the same Bun give the same bytes.
 *
 * `--target linux-x64` (again for more; the machine's own where absent, `all` for every one), `--out dist`.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { bundleConsole, compile, programName, TARGETS, type Target } from "./compile.ts";
import { materials } from "./materials.ts";

const root = resolve(import.meta.dir, "../..");

const { values } = parseArgs({
  options: { target: { type: "string", multiple: true }, out: { type: "string", default: "dist" } },
});

function targetsOf(named: readonly string[]): readonly Target[] {
  if (named.includes("all")) return TARGETS;
  const wanted = named.length > 0 ? named : [`${process.platform}-${process.arch}`];
  return wanted.map((name) => {
    const target = TARGETS.find((one) => one === name);
    if (target === undefined)
      throw new Error(`${name} is not a known target; known targets: ${TARGETS.join(", ")}, all`);
    return target;
  });
}

const digest = (bytes: Uint8Array): string => new Bun.CryptoHasher("sha256").update(bytes).digest("hex");

const out = resolve(values.out);
mkdirSync(out, { recursive: true });
const files: string[] = [];
const consoleFile = bundleConsole();
for (const target of targetsOf(values.target ?? [])) {
  const name = programName(target);
  compile(join(out, name), consoleFile, target);
  files.push(name);
}
writeFileSync(join(out, "sbom.cdx.json"), materials(root));
files.push("sbom.cdx.json");
const sums = files.map((name) => `${digest(readFileSync(join(out, name)))}  ${name}\n`);
writeFileSync(join(out, "SHA256SUMS"), sums.join(""));
console.log(sums.join("").trimEnd());
