import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { callGateway } from "./support/client-calls.ts";

// Needs the registry of npm: everything here installs packages.

const root = new URL("..", import.meta.url).pathname;
const workFolder = mkdtempSync(join(tmpdir(), "trivium npm "));
const running = new Set<Bun.Subprocess>();
afterAll(() => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(workFolder, { recursive: true, force: true });
});

const npm = Bun.which("npm");
const mustRun = process.env["CI"] === "true";
const QUIET = ["--no-audit", "--no-fund", "--prefer-offline"];

/** The registry that npm uses here; its response says whether packages are available. */
async function registryAnswers(): Promise<boolean> {
  if (npm === null) return false;
  try {
    const asked = Bun.spawn([npm, "config", "get", "registry"], { stdout: "pipe", stderr: "ignore" });
    const registry = (await asked.stdout.text()).trim().split("\n").at(-1) ?? "";
    const { ok } = await fetch(new URL("yaml", registry), { method: "HEAD", signal: AbortSignal.timeout(5000) });
    return ok;
  } catch {
    return false;
  }
}

const canInstall = mustRun || (await registryAnswers());
if (!canInstall) console.log("skipped: installing with npm, because npm is missing or its registry does not answer");

/** Without this checkout's Bun on the path. */
const pathOf = (version: string | undefined) =>
  [...(version === undefined ? [] : [npmFolder(version)]), ...(process.env["PATH"] ?? "").split(":")]
    .filter((folder) => !folder.startsWith(root))
    .join(":");

async function run(command: string[], cwd: string, PATH = pathOf(undefined)): Promise<string> {
  const child = Bun.spawn(command, { cwd, env: { ...process.env, PATH }, stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect({ command, code: await child.exited, ...(child.exitCode === 0 ? {} : { stderr }) }).toEqual({
    command,
    code: 0,
  });
  return stdout;
}

const npmFolder = (version: string) => join(workFolder, `npm-${version}/node_modules/.bin`);

async function installNpm(version: string): Promise<void> {
  const folder = join(npmFolder(version), "../..");
  mkdirSync(folder);
  await run([npm ?? "npm", "install", ...QUIET, "--prefix", ".", `npm@${version}`], folder);
}

/** What a newcomer has after `git clone`, in a folder whose name has a space. */
function checkout(name: string): string {
  const folder = join(workFolder, name);
  const left = new Set(["node_modules", "data", ".git", "dist"]);
  cpSync(root, folder, {
    recursive: true,
    filter: (from) => !left.has(from.slice(root.length).split("/")[0] ?? ""),
  });
  return folder;
}

/** Starts the installed program and sends it one prompt. */
async function answerOf(command: readonly string[], folder: string, PATH = "/usr/bin:/bin"): Promise<string> {
  const child = Bun.spawn([...command, "--json", "--port", "0", "--admin-port", "0"], {
    cwd: folder,
    env: { PATH, HOME: workFolder },
    stdout: "pipe",
    stderr: "pipe",
  });
  running.add(child);
  let reported = "";
  const decoder = new TextDecoder();
  for await (const part of child.stdout) {
    reported += decoder.decode(part, { stream: true });
    if (reported.endsWith("}\n")) break;
  }
  const json = reported.slice(reported.indexOf("{"));
  if (json === "") throw new Error(await child.stderr.text());
  const { url, admin_url, first_start } = JSON.parse(json) as {
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
  await child.exited;
  running.delete(child);
  return text;
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sum + sizeOf(path);
    return entry.isFile() ? sum + statSync(path).size : sum;
  }, 0);
}

describe.skipIf(!canInstall)("choices 7: `npm ci && npm start`", () => {
  beforeAll(() => installNpm("9.2.0"));

  // What Debian 12 and Ubuntu 24.04 install. It does not know `libc` and installs the packages of both.
  test.each([[[]], [["--ignore-scripts"]]])("with npm 9.2, in a folder with a space: %j", async (flags: string[]) => {
    const folder = checkout(`with npm 9 ${flags.length}`);
    const PATH = pathOf("9.2.0");
    await run(["npm", "ci", "--omit=dev", ...QUIET, ...flags], folder, PATH);
    const runtimes = readdirSync(join(folder, "node_modules/@oven"));
    if (process.platform === "linux") expect(runtimes.some((name) => name.endsWith("-musl"))).toBe(true);
    expect(await answerOf(["npm", "start", "--silent", "--"], folder, PATH)).toContain("simulator");
  });

  test("with this npm, and the musl package present", async () => {
    const folder = checkout("with musl");
    await run(["npm", "ci", "--omit=dev", ...QUIET], folder);
    const name = `@oven/bun-linux-${process.arch === "arm64" ? "aarch64" : "x64"}-musl`;
    const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      dependencies: { bun: string };
    };
    await run(["npm", "pack", `${name}@${dependencies.bun}`], workFolder);
    const archive = readdirSync(workFolder).find((file) => file.startsWith("oven-bun-linux")) ?? "";
    const place = join(folder, "node_modules", name);
    mkdirSync(place);
    await run(["tar", "-xzf", join(workFolder, archive), "--strip-components=1", "-C", place], workFolder);
    expect(await answerOf(["npm", "start", "--silent", "--"], folder, pathOf(undefined))).toContain("simulator");
  });
});

describe.skipIf(!canInstall)("the package", () => {
  test("installed without install scripts as a dependency, it starts and answers", async () => {
    const packed = await run(
      [npm ?? "npm", "pack", "--json", "--ignore-scripts", "--pack-destination", workFolder],
      root,
    );
    const [{ filename = "" } = {}] = JSON.parse(packed) as { filename: string }[];
    const folder = mkdtempSync(join(workFolder, "project-"));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "somebody", private: true }));
    await run(
      [npm ?? "npm", "install", "--omit=dev", "--ignore-scripts", ...QUIET, join(workFolder, filename)],
      folder,
    );
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
    expect(await answerOf([join(folder, "node_modules/.bin/trivium"), "serve"], folder)).toContain("simulator");
    const megabytes = sizeOf(join(folder, "node_modules")) / 1e6;
    console.log(`the installed package: ${megabytes.toFixed(0)} MB`);
    expect(megabytes).toBeLessThan(200);
  });
});
