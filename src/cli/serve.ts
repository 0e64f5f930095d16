import { type App, startApp } from "../app/start-app.ts";
import { createLog } from "../observe/log.ts";
import { type Command, EXIT, printJson, readFlags } from "./command.ts";
import { configPath } from "./config-path.ts";

export const serve: Command = {
  name: "serve",
  usage: "[--log-level LEVEL]",
  summary: "run the gateway",
  run: async (args) => {
    const { values } = readFlags(args, { "log-level": { type: "string", default: "info" } });
    const log = createLog(values["log-level"]);
    const app = await startApp({ ...configPath(values.config), cwd: process.cwd(), environment: process.env, log });
    // One call's fault must not end all the others: it is logged, and the gateway goes on.
    process.on("uncaughtException", (err) => log.error({ err }, "a fault that nothing caught"));
    process.on("unhandledRejection", (err) => log.error({ err }, "a failure that nothing waited for"));
    const { promise: told, resolve } = Promise.withResolvers<void>();
    process.on("SIGTERM", () => resolve());
    process.on("SIGINT", () => resolve());
    process.on("SIGHUP", () => app.reload());
    if (values.json) printJson({ url: app.url, admin_url: app.adminUrl, first_start: app.firstStart });
    else console.log(welcome(app));
    await told;
    log.info("draining: running calls may finish");
    await app.stop();
    return EXIT.ok;
  },
};

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
