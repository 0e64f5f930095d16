import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Package } from "./agent.ts";

const INSTALL_TIMEOUT_MS = 600_000;

/** How a registry's packages are put into a folder, and where their programs lie in it. */
const INSTALLERS: Readonly<
  Record<Package["from"], { programs: string; commands(folder: string, wanted: readonly string[]): string[][] }>
> = {
  npm: {
    programs: join("node_modules", ".bin"),
    // Some programs are put in place by their install scripts, which a machine's settings may forbid.
    commands: (_folder, wanted) => [["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts=false", ...wanted]],
  },
  // An environment of Python's knows its own path, and cannot be moved.
  pip: {
    programs: "bin",
    commands: (folder, wanted) => [
      ["python3", "-m", "venv", folder],
      [join(folder, "bin", "pip"), "install", "--quiet", "--disable-pip-version-check", ...wanted],
    ],
  },
};

/**
 * Installs packages from their registry into a temporary folder, where later runs find them again, and gives the folder of
 * their programs. Their dependencies stay out of the project's own.
 */
export async function installPackages(from: Package["from"], name: string, wanted: readonly string[]): Promise<string> {
  const digest = Bun.hash(wanted.join(" ")).toString(36);
  const folder = join(tmpdir(), `trivium-client-${name.replaceAll(/[^\w.-]/g, "-")}-${digest}`);
  const { programs, commands } = INSTALLERS[from];
  // Only a whole installation gets the mark, so that one that broke off is not found again.
  const mark = join(folder, "installed");
  if (!existsSync(mark)) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    if (from === "npm") writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
    const log = join(folder, "install.log");
    for (const command of commands(folder, wanted)) {
      const child = Bun.spawn(command, {
        cwd: folder,
        stdin: "ignore",
        stdout: Bun.file(log),
        stderr: Bun.file(`${log}.err`),
        timeout: INSTALL_TIMEOUT_MS,
      });
      if ((await child.exited) !== 0)
        throw new Error(`${wanted.join(" ")} was not installed:\n${readFileSync(`${log}.err`, "utf8").slice(-2000)}`);
    }
    writeFileSync(`${mark}.new`, wanted.join("\n"));
    renameSync(`${mark}.new`, mark);
  }
  return join(folder, programs);
}

export async function installAgent({ from, name, version, program }: Package): Promise<string> {
  return join(await installPackages(from, name, [`${name}${from === "npm" ? "@" : "=="}${version}`]), program);
}
