import { afterAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// Packages are unpacked, possibly on a slow machine.

const root = new URL("..", import.meta.url).pathname;
const workFolder = mkdtempSync(join(tmpdir(), "trivium-package-"));
afterAll(() => rmSync(workFolder, { recursive: true, force: true }));

const npm = Bun.which("npm");
const mustRun = process.env["CI"] === "true";

const canPack = npm !== null || mustRun;
if (!canPack) console.log("skipped: the package, because npm is not on the path");

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
  size: number;
  files: { path: string; mode: number }[];
}

const pack = async (): Promise<Packed> => {
  const reported = await run(
    [npm ?? "npm", "pack", "--json", "--ignore-scripts", "--pack-destination", workFolder],
    root,
  );
  const [packed] = JSON.parse(reported) as Packed[];
  if (!packed) throw new Error("nothing was packed");
  return packed;
};

describe.skipIf(!canPack)("the package", () => {
  test("choices 7: npm pack contains the program and no tests; it is small", async () => {
    const { files, size } = await pack();
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

  test.each([
    ["bun-linux-x64", "bun-linux-x64-musl"],
    ["bun-linux-x64-musl", "bun-linux-x64"],
  ])("with the packages of both C libraries, uses %s where %s does not run", async (runs, other) => {
    const folder = launchersAt("node_modules/trivium");
    link(runtime, join(folder, "../@oven", runs));
    const program = join(folder, "../@oven", other, "bin/bun");
    mkdirSync(join(program, ".."), { recursive: true });
    // What the kernel says of a program for another C library: its loader does not exist.
    writeFileSync(program, "#!/lib/ld-of-another-machine.so.1\n", { mode: 0o755 });
    expect(await version(join(folder, "bin/bun"))).toBe(Bun.version);
  });

  test("a shell that exports CDPATH does not lead elsewhere", async () => {
    const env = { PATH: "/usr/bin:/bin", CDPATH: `.:${workFolder}` };
    expect(await run(["bin/trivium", "version"], root, env)).toMatch(/^\d+\.\d+\.\d+\n$/);
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
    expect(await missing.stderr.text()).toContain("Run 'npm ci' first");
    rmSync(program);
    symlinkSync(join(runtime, "bin/bun"), program);
    expect(await version(join(folder, "bin/bun"))).toBe(Bun.version);
  });
});
