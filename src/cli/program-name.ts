import { existsSync, realpathSync } from "node:fs";
import { relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The command that runs the program in this folder: `bin/trivium` in a checkout, `trivium` on the PATH, `npx trivium` in an
 * installed package, else its path.
 */
export function programName(folder: string = process.cwd(), path: string | undefined = process.env["PATH"]): string {
  const own = fileURLToPath(new URL("../../bin/trivium", import.meta.url));
  // The compiled program is one file, and its sources are inside it.
  if (!existsSync(own)) return "trivium";
  if (resolve(folder, "bin/trivium") === own) return "bin/trivium";
  const found = path === undefined ? null : Bun.which("trivium", { PATH: path });
  if (found !== null && realpathSync(found) === realpathSync(own)) return "trivium";
  const packaged = resolve(folder, "node_modules/.bin/trivium");
  if (existsSync(packaged) && realpathSync(packaged) === realpathSync(own)) return "npx trivium";
  const near = relative(folder, own);
  return near.startsWith("..") ? own : near;
}
