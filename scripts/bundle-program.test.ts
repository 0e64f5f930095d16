import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleProgram } from "./bundle-program.ts";

const root = join(import.meta.dir, "..");

test("the bundled program says and does what the program of the repository does", async () => {
  const folder = mkdtempSync(join(tmpdir(), "trivium-bundle-"));
  try {
    const bundled = await bundleProgram(root, folder);
    const run = (program: string, ...args: string[]) => {
      const { exitCode, stdout, stderr } = Bun.spawnSync([program, ...args], {
        cwd: folder,
        env: { PATH: "/usr/bin:/bin" },
      });
      return { exitCode, stdout: `${stdout}`, stderr: `${stderr}` };
    };
    for (const args of [["--version"], ["models", "--json"], ["no-such-command"]]) {
      expect(run(bundled, ...args)).toEqual(run(join(root, "bin/trivium"), ...args));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
