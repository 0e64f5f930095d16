import { type App, startApp } from "../app/start-app.ts";
import { createLog, LOG_LEVELS } from "../observe/log.ts";
import { defineCommand, EXIT, printJson, UsageError } from "./command.ts";
import { configPath } from "./config-path.ts";

export const serve = defineCommand({
  name: "serve",
  usage: "[--log-level LEVEL]",
  summary: "run the gateway",
  flags: {
    "log-level": { type: "string", default: "info", value: "LEVEL", about: `one of ${LOG_LEVELS.join(", ")}` },
  },
  run: async ({ values }) => {
    const level = LOG_LEVELS.find((known) => known === values["log-level"]);
    if (!level) throw new UsageError(`--log-level: one of ${LOG_LEVELS.join(", ")}.`);
    const log = createLog(level);
    const app = await startApp({ ...configPath(values.config), cwd: process.cwd(), environment: process.env, log });
    // One call's fault must not end all the others: it is logged, and the gateway goes on.
    process.on("uncaughtException", (err) => log.error({ err }, "a fault that nothing caught"));
    process.on("unhandledRejection", (err) => log.error({ err }, "a failure that nothing waited for"));
    const { promise: told, resolve } = Promise.withResolvers<void>();
    const hurry = new AbortController();
    let signals = 0;
    const stop = () => (++signals === 1 ? resolve() : hurry.abort());
    process.on("SIGTERM", stop);
    process.on("SIGINT", stop);
    process.on("SIGHUP", () => app.reload());
    if (values.json) printJson({ url: app.url, admin_url: app.adminUrl, first_start: app.firstStart });
    else console.log(welcome(app));
    await told;
    log.info("draining: running calls may finish; another signal ends them");
    await app.stop(hurry.signal);
    return EXIT.ok;
  },
});

function welcome({ url, adminUrl, firstStart, models, providers }: App): string {
  const lines = [
    `Trivium is listening on ${url}`,
    `  ${models} models from ${providers.join(", ") || "no provider yet"}`,
  ];
  lines.push(`  operator's address ${adminUrl}`);
  if (firstStart.adminSecret) lines.push(`  admin secret (shown once): ${firstStart.adminSecret}`);
  if (firstStart.apiKey) {
    lines.push(`  API key (shown once): ${firstStart.apiKey}`);
    if (providers.includes("simulator")) lines.push("", "Try it:", curlLine(url, firstStart.apiKey));
  }
  return lines.join("\n");
}

function curlLine(url: string, key: string): string {
  const body = '{"model":"sim/standard","stream":true,"messages":[{"role":"user","content":"Hello, who are you?"}]}';
  return `curl -N ${url}/api/v1/chat/completions -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" -d '${body}'`;
}
