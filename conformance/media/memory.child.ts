/** The gateway as a separate process, so that its memory can be measured apart from the test's. Prints its URL. */

import { startApp } from "../../src/app/start-app.ts";
import { system } from "../../src/base/system.ts";
import { createLog } from "../../src/observe/log.ts";

const [configPath = ""] = process.argv.slice(2);
const app = await startApp({
  configPath,
  cwd: process.cwd(),
  environment: {},
  log: createLog({ clock: system.clock, level: "error" }),
  timings: { mediaPollFactor: 0.02 },
});
console.log(JSON.stringify({ url: app.url }));
