import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../base/sources.ts";
import { GatewayError } from "../canon/error.ts";

const KEY_BYTES = 32;
const KEY_FILE = "responses.key";

/**
 * The key that seals stored answers, from the file `responses.key` in the data folder. The first start creates it,
 * readable only by this user. It is written under another name and then linked, so that two processes that start at
 * once both read one whole key.
 */
export function readKeyFile(folder: string, random: Random): Uint8Array {
  const path = join(folder, KEY_FILE);
  try {
    return keyIn(readFileSync(path, "utf8"), path);
  } catch (thrown) {
    if (codeOf(thrown) !== "ENOENT") throw thrown;
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = `${path}.${random.id()}`;
  writeFileSync(draft, `${Buffer.from(random.bytes(KEY_BYTES)).toString("base64")}\n`, { mode: 0o600, flag: "wx" });
  try {
    linkSync(draft, path);
  } catch (thrown) {
    if (codeOf(thrown) !== "EEXIST") throw thrown;
  } finally {
    rmSync(draft);
  }
  return keyIn(readFileSync(path, "utf8"), path);
}

function keyIn(content: string, path: string): Uint8Array {
  const key = Buffer.from(content.trim(), "base64");
  if (key.length === KEY_BYTES) return key;
  const cure = "Restore it from a backup, or delete it, which makes everything stored with the old key unreadable";
  throw new GatewayError("internal", `${path} is not a key: it must contain ${KEY_BYTES} bytes in base64. ${cure}.`);
}

const codeOf = (thrown: unknown): string => (thrown as NodeJS.ErrnoException).code ?? "";
