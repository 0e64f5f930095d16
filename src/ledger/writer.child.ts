/** Runs as a separate process: writes receipts and prints the id of each once it is committed. */

import { writeSync } from "node:fs";
import { system } from "../base/system.ts";
import { openStorage } from "../storage/open.ts";
import { sampleReceipt } from "../storage/receipts/receipt.sample.ts";
import { LedgerWriter } from "./writer.ts";

const [url = "", prefix = "", count = "0"] = process.argv.slice(2);
const storage = await openStorage(url, system.clock);
const writer = new LedgerWriter({
  clock: system.clock,
  storage,
  onProblem: (error) => {
    throw error;
  },
});

async function writeInTurn(lane: number): Promise<void> {
  for (let index = 0; index < Number(count); index += 1) {
    const id = `${prefix}-${lane}-${index}`;
    await writer.write(sampleReceipt({ id }));
    writeSync(1, `${id}\n`);
  }
}

await Promise.all([0, 1, 2, 3].map(writeInTurn));
await writer.close();
await storage.close();
