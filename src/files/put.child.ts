/** Runs as a separate process: writes a file that never ends, and reports when a part of it is on disk. */

import { writeSync } from "node:fs";
import { system } from "../base/system.ts";
import { openFileStore } from "./open-file-store.ts";

const [folder = "", name = ""] = process.argv.slice(2);
const store = await openFileStore(folder, {}, system);

async function* endless(): AsyncGenerator<Uint8Array> {
  for (let count = 0; ; count += 1) {
    yield new Uint8Array(64 * 1024).fill(count);
    if (count === 20) writeSync(1, "half\n");
    await Bun.sleep(2);
  }
}

await store.put(name, endless(), 1024 ** 3);
