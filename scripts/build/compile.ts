/** The program and its runtime in one file, for one kind of machine. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dir, "../..");

export const TARGETS = [
  "linux-x64",
  "linux-x64-musl",
  "linux-arm64",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
] as const;
export type Target = (typeof TARGETS)[number];

/** Its name is in the program, too: two builds are the same bytes under the same name. */
export function programName(target = `${process.platform}-${process.arch}`): string {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  return `trivium-${version}-${target}`;
}

/** Files that the runtime would otherwise read from the working folder (S20). */
const CLOSED = ["--no-compile-autoload-dotenv", "--no-compile-autoload-bunfig"];

/** Its modules are compiled beforehand, which halves the processor time of a start. */
const COMPILED = ["--bytecode", "--format=esm"];

/**
 * The console in one file, under the name that `src/app/bundled-console.ts` looks for. Its path is part of the program: it is the same
 * in every build.
 */
export function bundleConsole(): string {
  const bundled = Bun.spawnSync([process.execPath, join(root, "console/bundle.ts")], {
    stdout: "pipe",
    stderr: "pipe",
  });
  if (bundled.exitCode !== 0) throw new Error(`failed to bundle the console:\n${bundled.stderr}`);
  const folder = join(root, "node_modules/.cache/trivium");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "console.bundle");
  // Another build may read it at this moment.
  const written = `${file}.${process.pid}`;
  writeFileSync(written, bundled.stdout);
  renameSync(written, file);
  return file;
}

/** For the machine that it runs on where no target is named. */
export function compile(outfile: string, consoleFile: string, target?: Target): void {
  const command = [process.execPath, "build", "--compile", ...COMPILED, "--minify", "--sourcemap=inline", ...CLOSED];
  const from = join(root, "src/main.ts");
  const { exitCode, stderr } = Bun.spawnSync(
    [...command, ...(target === undefined ? [] : [`--target=bun-${target}`]), from, consoleFile, "--outfile", outfile],
    {
      cwd: root,
      stdout: "ignore",
      stderr: "pipe",
    },
  );
  if (exitCode !== 0) throw new Error(`failed to build ${target ?? "the program"}:\n${stderr}`);
  // What stack traces need of it is in the program.
  rmSync(`${outfile}.map`, { force: true });
  rmSync(join(outfile, "../console.js.map"), { force: true });
}
