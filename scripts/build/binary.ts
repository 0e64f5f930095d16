/**
 * `npm run build:binary`: the program and its runtime in one file for each kind of machine, with checksums and a list of what is
 * in it. The same source and the same Bun give the same bytes.
 *
 * `--target linux-x64` (again for more; the machine's own where absent, `all` for every one), `--out dist`.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { materials } from "./materials.ts";

const root = resolve(import.meta.dir, "../..");

const TARGETS = [
  "linux-x64",
  "linux-x64-musl",
  "linux-arm64",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
] as const;
type Target = (typeof TARGETS)[number];

const { values } = parseArgs({
  options: { target: { type: "string", multiple: true }, out: { type: "string", default: "dist" } },
});

/** What the runtime would otherwise read from the folder in which the program is started (S20). */
const CLOSED = ["--no-compile-autoload-dotenv", "--no-compile-autoload-bunfig"];

/**
 * The console in one file, under the name that `src/app/bundled-console.ts` looks for. Its path is part of the program: it is the same
 * in every build.
 */
function bundleConsole(): string {
  const bundled = Bun.spawnSync([process.execPath, join(root, "console/bundle.ts")], {
    stdout: "pipe",
    stderr: "pipe",
  });
  if (bundled.exitCode !== 0) throw new Error(`the console could not be bundled:\n${bundled.stderr}`);
  const folder = join(root, "node_modules/.cache/trivium");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "console.bundle");
  writeFileSync(file, bundled.stdout);
  return file;
}

function build(target: Target, outfile: string, consoleFile: string): void {
  const command = [process.execPath, "build", "--compile", "--minify", "--sourcemap=inline", ...CLOSED];
  const from = join(root, "src/main.ts");
  const { exitCode, stderr } = Bun.spawnSync(
    [...command, `--target=bun-${target}`, from, consoleFile, "--outfile", outfile],
    {
      cwd: root,
      stdout: "ignore",
      stderr: "pipe",
    },
  );
  if (exitCode !== 0) throw new Error(`${target} could not be built:\n${stderr}`);
  // What stack traces need of it is in the program.
  rmSync(`${outfile}.map`, { force: true });
  rmSync(join(outfile, "../console.js.map"), { force: true });
}

function targetsOf(named: readonly string[]): readonly Target[] {
  if (named.includes("all")) return TARGETS;
  const wanted = named.length > 0 ? named : [`${process.platform}-${process.arch}`];
  return wanted.map((name) => {
    const target = TARGETS.find((one) => one === name);
    if (target === undefined) throw new Error(`${name} is no target; known are ${TARGETS.join(", ")}, all`);
    return target;
  });
}

const digest = (bytes: Uint8Array): string => new Bun.CryptoHasher("sha256").update(bytes).digest("hex");

const out = resolve(values.out);
mkdirSync(out, { recursive: true });
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
const files: string[] = [];
const consoleFile = bundleConsole();
for (const target of targetsOf(values.target ?? [])) {
  const name = `trivium-${version}-${target}`;
  build(target, join(out, name), consoleFile);
  files.push(name);
}
writeFileSync(join(out, "sbom.cdx.json"), materials(root));
files.push("sbom.cdx.json");
const sums = files.map((name) => `${digest(readFileSync(join(out, name)))}  ${name}\n`);
writeFileSync(join(out, "SHA256SUMS"), sums.join(""));
console.log(sums.join("").trimEnd());
