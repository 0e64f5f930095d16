import { closeSync, constants, openSync, readSync } from "node:fs";
import { resolve } from "node:path";

/** No secret is longer, and a wrong path may lead to any file. */
const MAX_BYTES = 64 * 1024;

/** Files that contain one value each, as container platforms mount secrets. */
export class ValueFiles {
  readonly #folder: string;
  readonly #paths = new Set<string>();

  /** Paths are relative to `folder`. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Those that were named, readable or not. */
  get paths(): readonly string[] {
    return [...this.#paths];
  }

  /** The content without a trailing newline; undefined if the file cannot be read or is too long. */
  read(named: string): string | undefined {
    const path = resolve(this.#folder, named);
    this.#paths.add(path);
    try {
      return readStart(path)?.replace(/\r?\n$/, "");
    } catch {
      return undefined;
    }
  }
}

/** Never blocks on a pipe, and never reads an endless device. */
function readStart(path: string): string | undefined {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const bytes = Buffer.alloc(MAX_BYTES + 1);
    const length = readSync(file, bytes);
    return length > MAX_BYTES ? undefined : bytes.toString("utf8", 0, length);
  } finally {
    closeSync(file);
  }
}
