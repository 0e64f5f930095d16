import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Package } from "./agent.ts";

/** How packages of a registry are installed into a folder, and where their programs are. */
const INSTALLERS: Readonly<
  Record<Package["from"], { programs: string; commands(folder: string, wanted: readonly string[]): string[][] }>
> = {
  npm: {
    programs: join("node_modules", ".bin"),
    // Some programs are installed by install scripts, which a machine's settings may forbid.
    commands: (folder, wanted) => [
      ["npm", "install", "--prefix", folder, "--no-audit", "--no-fund", "--ignore-scripts=false", ...wanted],
    ],
  },
  // A Python environment contains its own path and cannot be moved. Of its thousands of files, only those in use are
  // compiled.
  pip: {
    programs: "bin",
    commands: (folder, wanted) => [
      ["python3", "-m", "venv", folder],
      [join(folder, "bin", "pip"), "install", "--quiet", "--no-compile", "--disable-pip-version-check", ...wanted],
    ],
  },
};

/** A registry may be slow, or stall in the middle of a download. */
interface InstallLimits {
  attempts: number;
  timeoutMs: number;
}
const INSTALL_LIMITS: InstallLimits = { attempts: 3, timeoutMs: 600_000 };

/**
 * Runs the commands of an installation until all have succeeded. Another attempt continues with what the previous one
 * left; the last starts with an empty folder, in case that was the problem.
 */
export async function installInto(
  folder: string,
  commands: readonly string[][],
  { attempts, timeoutMs }: InstallLimits = INSTALL_LIMITS,
): Promise<void> {
  // Only a complete installation is marked, so that an interrupted one is not mistaken for it.
  const mark = join(folder, "installed");
  if (existsSync(mark)) return;
  let problem = "";
  for (let attempt = 1; attempt <= attempts; attempt++) {
    if (attempt > 1 && attempt === attempts) rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    problem = await runAll(commands, folder, timeoutMs);
    if (problem !== "") continue;
    writeFileSync(`${mark}.new`, "");
    renameSync(`${mark}.new`, mark);
    return;
  }
  throw new Error(`not installed in ${attempts} attempts: ${problem}`);
}

/** What went wrong, or nothing if all commands succeeded in time. */
async function runAll(commands: readonly string[][], folder: string, timeoutMs: number): Promise<string> {
  const until = performance.now() + timeoutMs;
  const log = join(folder, "install.log");
  for (const command of commands) {
    const child = Bun.spawn(command, {
      cwd: folder,
      stdin: "ignore",
      stdout: Bun.file(log),
      stderr: Bun.file(`${log}.err`),
      // A separate process group, so that everything the installer started ends with it.
      detached: true,
    });
    let late = false;
    const tooLate = setTimeout(() => {
      late = true;
      process.kill(-child.pid, "SIGKILL");
    }, until - performance.now());
    const code = await child.exited;
    clearTimeout(tooLate);
    if (late) return `${command[0]} took more than ${timeoutMs / 1000} s`;
    if (code !== 0) return `${command[0]} ended with code ${code}\n${readFileSync(`${log}.err`, "utf8").slice(-2000)}`;
  }
  return "";
}

/**
 * Installs packages from their registry into a temporary folder, which later runs reuse, and returns the folder of
 * their programs. Their dependencies stay out of the project's own.
 */
export async function installPackages(from: Package["from"], name: string, wanted: readonly string[]): Promise<string> {
  const digest = Bun.hash(wanted.join(" ")).toString(36);
  const folder = join(tmpdir(), `trivium-client-${name.replaceAll(/[^\w.-]/g, "-")}-${digest}`);
  const { programs, commands } = INSTALLERS[from];
  await installInto(folder, commands(folder, wanted));
  return join(folder, programs);
}

export async function installAgent({ from, name, version, program }: Package): Promise<string> {
  return join(await installPackages(from, name, [`${name}${from === "npm" ? "@" : "=="}${version}`]), program);
}
