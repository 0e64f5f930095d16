import { type ConfigSource, readConfig } from "../app/read-config.ts";
import { type App, startApp } from "../app/start-app.ts";
import { system } from "../base/system.ts";
import { LOG_FORMATS } from "../observe/format.ts";
import { createLog, LOG_LEVELS, type Log } from "../observe/log.ts";
import { banner, baseUrls } from "./banner.ts";
import { paintFor } from "./colour.ts";
import { defineCommand, EXIT, type Given, printJson, UsageError } from "./command.ts";
import { aboutCommand } from "./commands.ts";
import { configSource } from "./config-source.ts";
import { readPort } from "./whole-number.ts";

const FLAGS = {
  port: { type: "string", value: "PORT", about: "where clients connect; 0 is any free port (default: server.port)" },
  host: { type: "string", value: "HOST", about: "the address to listen on (default: server.host)" },
  "admin-port": { type: "string", value: "PORT", about: "port of the Admin API (default: admin.port)" },
  "log-level": { type: "string", value: "LEVEL", about: `${LOG_LEVELS.join(", ")} (default: log.level, else info)` },
  "log-format": {
    type: "string",
    value: "FORMAT",
    about: `${LOG_FORMATS.join(", ")} (default: log.format, else auto)`,
  },
} as const;

export const serve = defineCommand({
  ...aboutCommand("serve"),
  flags: FLAGS,
  run: async ({ values }) => {
    const source = readSource(values);
    const config = readConfig(source);
    checkPorts(config);
    const log = createLog({
      clock: system.clock,
      ...config.log,
      ...oneOf("--log-level", "level", values["log-level"], LOG_LEVELS),
      ...oneOf("--log-format", "format", values["log-format"], LOG_FORMATS),
    });
    let code: number = EXIT.failed;
    try {
      const app = await startApp({ ...source, log });
      if (values.json) printJson(tellPrograms(app));
      else console.log(banner(app, paintFor(process.stdout)));
      code = await runUntilStopped(app, log);
    } finally {
      // A write that is never read would keep the process alive for ever.
      if (!(await log.flush())) process.exit(code);
    }
    return code;
  },
});

/** The exit code is a failure if receipts were lost. */
async function runUntilStopped(app: App, log: Log): Promise<number> {
  // A fault in one call must not end all others: it is logged, and the gateway goes on.
  process.on("uncaughtException", (err) => log.error({ err }, "uncaught exception"));
  process.on("unhandledRejection", (err) => log.error({ err }, "unhandled rejection"));
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  const hurry = new AbortController();
  let signals = 0;
  const stop = () => (++signals === 1 ? resolve() : hurry.abort());
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  process.on("SIGHUP", () => app.reload());
  await stopped;
  const active = app.active();
  const waiting = active === 1 ? "waiting for 1 active request" : `waiting for ${active} active requests`;
  log.info({ active }, active === 0 ? "shutting down" : `shutting down: ${waiting} (Ctrl-C again to force)`);
  const { lostReceipts } = await app.stop(hurry.signal);
  if (lostReceipts === 0) return EXIT.ok;
  log.error({ receipts: lostReceipts }, "receipts were given up; each is in the log with its amounts");
  return EXIT.failed;
}

function readSource(values: Given<typeof FLAGS>["values"]): ConfigSource {
  const port = readPort("--port", values.port);
  const adminPort = readPort("--admin-port", values["admin-port"]);
  if (values.host === "") throw new UsageError("--host names no address.");
  return {
    ...configSource(values.config),
    overrides: {
      ...(port === undefined ? {} : { port }),
      ...(values.host === undefined ? {} : { host: values.host }),
      ...(adminPort === undefined ? {} : { adminPort }),
    },
  };
}

/** In a file the two are compared on load; here they may come from the command line. */
function checkPorts({ server, admin }: ReturnType<typeof readConfig>): void {
  if (server.port === 0 || server.port !== admin.port || server.host !== admin.host) return;
  throw new UsageError(`Port ${server.port} is that of the Admin API too: set --admin-port to another one.`);
}

function oneOf<Name extends string, Word extends string>(
  flag: string,
  name: Name,
  given: string | undefined,
  known: readonly Word[],
): Partial<Record<Name, Word>> {
  if (given === undefined) return {};
  const word = known.find((one) => one === given);
  if (word === undefined) throw new UsageError(`${flag}: "${given}" is not one of ${known.join(", ")}.`);
  return { [name]: word } as Record<Name, Word>;
}

const tellPrograms = ({ url, adminUrl, publicUrl, models, providers, missing, firstStart }: App) => ({
  url,
  admin_url: adminUrl,
  base_urls: baseUrls(publicUrl),
  models,
  providers,
  missing_providers: missing,
  first_start: {
    ...(firstStart.apiKey === undefined ? {} : { api_key: firstStart.apiKey }),
    ...(firstStart.adminSecret === undefined ? {} : { admin_secret: firstStart.adminSecret }),
  },
});
