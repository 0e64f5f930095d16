import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";

/** What the program loads: itself, and the files that its threads begin with. */
const ENTRIES = ["src/main.ts", "src/storage/sqlite-reader.thread.ts", "simulator/media-maker/video-worker.ts"];

/**
 * The program in a hundred files instead of a thousand modules, with its own `bin/trivium` beside them: a command starts in half the
 * time. Returns the path of that `bin/trivium`. Every path that the program makes from where its modules are leads to the repository.
 */
export async function bundleProgram(root: string, folder: string): Promise<string> {
  const program = join(folder, "program");
  await Bun.build({
    entrypoints: ENTRIES.map((entry) => join(root, entry)),
    target: "bun",
    splitting: true,
    outdir: join(program, "src"),
    naming: { entry: "[name].ts" },
  });
  mkdirSync(join(program, "bin"));
  cpSync(join(root, "bin/trivium"), join(program, "bin/trivium"));
  symlinkSync(join(root, "bin/bun"), join(program, "bin/bun"));
  symlinkSync(join(root, "console"), join(folder, "console"));
  return join(program, "bin/trivium");
}
