import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Agent } from "./agent.ts";

const INSTALL_TIMEOUT_MS = 300_000;

/**
 * Installs an agent from the npm registry into a temporary folder, where later runs find it again, and gives its program.
 * Its dependencies stay out of the project's own.
 */
export async function installAgent(agent: Agent): Promise<string> {
  const folder = join(tmpdir(), `trivium-agent-${agent.program}-${agent.version}`);
  const program = join("node_modules", ".bin", agent.program);
  if (!existsSync(join(folder, program))) {
    // Only a whole installation gets the folder's name, so that one that broke off is not found again.
    const unfinished = `${folder}-${process.pid}`;
    mkdirSync(unfinished, { recursive: true });
    writeFileSync(join(unfinished, "package.json"), JSON.stringify({ private: true }));
    const log = join(unfinished, "install.log");
    const npm = Bun.spawn(["npm", "install", "--no-audit", "--no-fund", `${agent.package}@${agent.version}`], {
      cwd: unfinished,
      stdin: "ignore",
      stdout: Bun.file(log),
      stderr: Bun.file(`${log}.err`),
      timeout: INSTALL_TIMEOUT_MS,
    });
    if ((await npm.exited) !== 0)
      throw new Error(
        `${agent.package}@${agent.version} was not installed:\n${readFileSync(`${log}.err`, "utf8").slice(-2000)}`,
      );
    rmSync(folder, { recursive: true, force: true });
    renameSync(unfinished, folder);
  }
  return join(folder, program);
}
