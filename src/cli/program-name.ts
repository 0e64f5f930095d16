import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** What to type in this folder to call the program: a checkout has it below `bin`, an installed package on the path. */
export function programName(folder: string = process.cwd()): string {
  const own = fileURLToPath(new URL("../../bin/trivium", import.meta.url));
  return resolve(folder, "bin/trivium") === own ? "bin/trivium" : "trivium";
}
