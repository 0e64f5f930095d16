/**
 * A gateway that can be killed. Loading takes longer than starting, so it loads, waits for a line on its standard
 * input and only then starts; it prints `ready`, and exits when its parent process is gone.
 */

import { startApp } from "../../src/app/start-app.ts";
import { system } from "../../src/base/system.ts";
import { createLog } from "../../src/observe/log.ts";

const [configPath = "", cwd = ""] = process.argv.slice(2);

for await (const _line of console) {
  await startApp({
    configPath,
    cwd,
    environment: {},
    log: createLog({ clock: system.clock, level: "error" }),
    timings: { mediaPollFactor: 0.02, operationLeaseMs: 1_000 },
  });
  console.log("ready");
}
process.exit();
