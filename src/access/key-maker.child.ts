/** Runs as a separate process: creates a key, prints it, and revokes it on request. */
import { system } from "../base/system.ts";
import { openStorage } from "../storage/open.ts";
import { createKey, revokeKey } from "./keys.ts";

const storage = await openStorage(process.argv[2] ?? "", system.clock);
const { id, key } = await createKey(storage, { name: "made elsewhere", project: "default" }, system, { who: "test" });
process.stdout.write(`${key}\n`);
for await (const _ of process.stdin) break;
await revokeKey(storage, id, system, { who: "test" });
process.stdout.write("revoked\n");
await storage.close();
process.exit(0);
