import { afterAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { callGateway } from "./support/client-calls.ts";

// Packages are unpacked, possibly on a slow machine.

const root = new URL("..", import.meta.url).pathname;
const workFolder = mkdtempSync(join(tmpdir(), "trivium-package-"));
const running = new Set<Bun.Subprocess>();
afterAll(() => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(workFolder, { recursive: true, force: true });
});

const npm = Bun.which("npm");
const mustRun = process.env["CI"] === "true";

/** The registry that npm uses here; its response says whether packages are available. */
async function registryAnswers(): Promise<boolean> {
  if (!npm) return false;
  try {
    const asked = Bun.spawn([npm, "config", "get", "registry"], { stdout: "pipe", stderr: "ignore" });
    const registry = (await asked.stdout.text()).trim().split("\n").at(-1) ?? "";
    const { ok } = await fetch(new URL("yaml", registry), { method: "HEAD", signal: AbortSignal.timeout(5000) });
    return ok;
  } catch {
    return false;
  }
}

const canPack = npm !== null || mustRun;
const canInstall = mustRun || (await registryAnswers());
if (!canPack) console.log("skipped: the package, because npm is not on the path");
else if (!canInstall) console.log("skipped: installing the package, because the registry of npm does not answer");

async function run(command: string[], cwd: string, env: Record<string, string> = {}): Promise<string> {
  const child = Bun.spawn(command, { cwd, env: { ...process.env, ...env }, stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect({ command, code: await child.exited, stderr: stderr.replaceAll(/^npm (warn|notice).*\n/gm, "") }).toEqual({
    command,
    code: 0,
    stderr: "",
  });
  return stdout;
}

interface Packed {
  filename: string;
  size: number;
  files: { path: string; mode: number }[];
}

/** Once for all tests of this file. */
let packing: Promise<Packed> | undefined;
const packed = (): Promise<Packed> => {
  packing ??= pack();
  return packing;
};

const pack = async (): Promise<Packed> => {
  const reported = await run(
    [npm ?? "npm", "pack", "--json", "--ignore-scripts", "--pack-destination", workFolder],
    root,
  );
  const [packed] = JSON.parse(reported) as Packed[];
  if (!packed) throw new Error("nothing was packed");
  return packed;
};

function sizeOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sum + sizeOf(path);
    return entry.isFile() ? sum + statSync(path).size : sum;
  }, 0);
}

/** Starts the installed program and sends it one prompt. */
async function answerOf(program: string, folder: string): Promise<string> {
  // No Bun on the path, and nothing of this checkout's environment.
  const env = { PATH: "/usr/bin:/bin" };
  const args = ["serve", "--json", "--port", "0", "--admin-port", "0"];
  const child = Bun.spawn([program, ...args], { cwd: folder, env, stdout: "pipe", stderr: "pipe" });
  running.add(child);
  let reported = "";
  const decoder = new TextDecoder();
  for await (const part of child.stdout) {
    reported += decoder.decode(part, { stream: true });
    if (reported.endsWith("}\n")) break;
  }
  if (reported === "") throw new Error(await child.stderr.text());
  const { url, admin_url, first_start } = JSON.parse(reported) as {
    url: string;
    admin_url: string;
    first_start: { api_key: string };
  };
  const answer = await callGateway(url, "chat", first_start.api_key, { model: "sim/standard" });
  const text = await answer.text();
  // The console is bundled from the packages installed next to it.
  const page = await fetch(admin_url);
  expect([page.status, (await page.text()).includes("/assets/main-")]).toEqual([200, true]);
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  running.delete(child);
  return text;
}

describe.skipIf(!canPack)("the package", () => {
  test("choices 7: npm pack contains the program and no tests; it is small", async () => {
    const { files, size } = await packed();
    const paths = files.map(({ path }) => path);
    expect(paths.filter((path) => /\.(test|sample|child|contract)\.ts$/.test(path))).toEqual([]);
    expect(paths.filter((path) => /^(conformance|fixtures|bench|scripts|data|node_modules|\.)/.test(path))).toEqual([]);
    expect(paths.filter((path) => /\.(pem|key|crt|p12)$|\/fixtures\//.test(path))).toEqual([]);
    for (const path of ["bin/trivium", "bin/bun", "src/main.ts", "src/catalogue/models.json", "LICENSE", "README.md"]) {
      expect(paths).toContain(path);
    }
    expect(files.find(({ path }) => path === "bin/trivium")?.mode).toBe(0o755);
    expect(size).toBeLessThan(3 * 1024 * 1024);
  });

  test.skipIf(!canInstall)("installed without install scripts as a dependency, it starts and answers", async () => {
    const { filename } = await packed();
    const folder = mkdtempSync(join(workFolder, "project-"));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "somebody", private: true }));
    const flags = ["--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
    await run([npm ?? "npm", "install", ...flags, join(workFolder, filename)], folder);
    const packages = readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."));
    expect(packages.sort()).toEqual([
      "@oven",
      "@preact",
      "bun",
      "h264-mp4-encoder",
      "hyparquet",
      "hyparquet-writer",
      "jose",
      "oauth4webapi",
      "preact",
      "trivium",
      "typebox",
      "uplot",
      "yaml",
    ]);
    expect(await answerOf(join(folder, "node_modules/.bin/trivium"), folder)).toContain("simulator");
    const megabytes = sizeOf(join(folder, "node_modules")) / 1e6;
    console.log(`the installed package: ${megabytes.toFixed(0)} MB`);
    expect(megabytes).toBeLessThan(200);
  });
});

describe("bin/bun", () => {
  const runtime =
    readdirSync(join(root, "node_modules/@oven")).map((name) => join(root, "node_modules/@oven", name))[0] ?? "";
  const version = (launcher: string, PATH = "/usr/bin:/bin") =>
    run(["/bin/sh", launcher, "--version"], workFolder, { PATH }).then((text) => text.trim());

  /** The launchers in a package at that path. */
  function launchersAt(path: string): string {
    const folder = join(mkdtempSync(join(workFolder, "package-")), path);
    mkdirSync(folder, { recursive: true });
    cpSync(join(root, "bin"), join(folder, "bin"), { recursive: true });
    return folder;
  }
  const link = (target: string, path: string) => {
    mkdirSync(join(path, ".."), { recursive: true });
    symlinkSync(target, path);
  };

  test("finds the runtime next to the package, above it, and next to its own package in a linked store", async () => {
    const nearby = launchersAt("node_modules/trivium");
    link(runtime, join(nearby, "../@oven/bun-here"));
    expect(await version(join(nearby, "bin/bun"))).toBe(Bun.version);

    const nested = launchersAt("node_modules/wrapper/node_modules/trivium");
    link(runtime, join(nested, "../../../@oven/bun-here"));
    expect(await version(join(nested, "bin/bun"))).toBe(Bun.version);

    const stored = launchersAt("node_modules/.store/trivium@1/node_modules/trivium");
    const store = join(stored, "../../../");
    link(runtime, join(store, "bun@1/node_modules/@oven/bun-here"));
    mkdirSync(join(store, "bun@1/node_modules/bun"));
    link(join(store, "bun@1/node_modules/bun"), join(stored, "../bun"));
    link(stored, join(store, "../trivium"));
    expect(await version(join(store, "../trivium/bin/bun"))).toBe(Bun.version);
  });

  test("uses the binary that the install script put in place, not its stub", async () => {
    const folder = launchersAt("node_modules/trivium");
    const program = join(folder, "../bun/bin/bun.exe");
    mkdirSync(join(program, ".."), { recursive: true });
    writeFileSync(program, 'echo "the install script was not run" >&2\nexit 1\n', { mode: 0o755 });
    const missing = Bun.spawn(["/bin/sh", join(folder, "bin/bun"), "--version"], {
      env: { PATH: "/usr/bin:/bin" },
      stdout: "pipe",
      stderr: "pipe",
    });
    expect(await missing.exited).toBe(127);
    rmSync(program);
    symlinkSync(join(runtime, "bin/bun"), program);
    expect(await version(join(folder, "bin/bun"))).toBe(Bun.version);
  });
});
