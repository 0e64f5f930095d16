import { configuredProviders } from "../../app/configured-providers.ts";
import { startOwnSimulator } from "../../app/own-simulator.ts";
import type { ConfigSource } from "../../app/read-config.ts";
import { readConfigInForce } from "../../app/read-config-in-force.ts";
import type { App, StartedApp } from "../../app/start-app.ts";
import { thisMachine, workerCount } from "../../app/workers/worker-count.ts";
import { type WorkerProcess, workerProcess } from "../../app/workers/worker-process.ts";
import { Workers } from "../../app/workers/workers.ts";
import { system } from "../../base/system.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { Config } from "../../config/config.ts";
import { MAX_WORKERS } from "../../config/max-workers.ts";
import { LOG_FORMATS } from "../../observe/format.ts";
import { createLog, LOG_LEVELS, type Log } from "../../observe/log.ts";
import { DEFAULT_TIMINGS } from "../../relay/settle/timings.ts";
import { listenFailure, PORT_FLAGS } from "../../server/listen-failure.ts";
import { banner, baseUrls, shownConsole } from "../banner.ts";
import { paintFor } from "../colour.ts";
import { defineCommand, EXIT, type Given, printJson, UsageError } from "../command.ts";
import { configSource } from "../config-source.ts";
import { readPort, readWholeNumber } from "../whole-number.ts";

const FLAGS = {
  port: { type: "string", value: "PORT", about: "port for clients; 0 selects a free port (default: server.port)" },
  host: { type: "string", value: "HOST", about: "address to listen on (default: server.host)" },
  "admin-port": {
    type: "string",
    value: "PORT",
    about: "port for the Admin API (default: admin.port, else --port + 1)",
  },
  workers: {
    type: "string",
    value: "COUNT",
    about: "number of processes that serve calls on the port, or auto (default: server.workers, else auto)",
  },
  "log-level": {
    type: "string",
    value: "LEVEL",
    about: `one of ${LOG_LEVELS.join(", ")} (default: log.level, else info)`,
  },
  "log-format": {
    type: "string",
    value: "FORMAT",
    about: `one of ${LOG_FORMATS.join(", ")} (default: log.format, else auto)`,
  },
} as const;

const PORT_TRIES = 20;
const PORT_WAIT_MS = 100;

export const serve = defineCommand({
  flags: FLAGS,
  run: async ({ values }) => {
    const source = readSource(values);
    const config = await readConfigInForce(source);
    checkPorts(config);
    const log = createLog({
      clock: system.clock,
      ...config.log,
      ...oneOf("--log-level", "level", values["log-level"], LOG_LEVELS),
      ...oneOf("--log-format", "format", values["log-format"], LOG_FORMATS),
    });
    const worker = workerProcess(process.env);
    const { count, reason } = workerCount(config, configuredProviders(config, source.environment), thisMachine());
    const tell = (app: StartedApp) => {
      log.info({ workers: count }, `${count === 1 ? "1 process serves" : `${count} processes serve`} calls: ${reason}`);
      if (values.json) printJson(tellPrograms(app));
      else console.log(banner(app, paintFor(process.stdout), process.stdout.isTTY));
    };
    let code: number = EXIT.failed;
    try {
      if (worker !== undefined) code = await runWorker(worker, source, config, log);
      else if (count > 1) code = await runWorkers(count, config, log, tell);
      else {
        const { startApp } = await loadApp();
        const app = await startApp({ ...source, log });
        // Install the signal handlers before printing the banner, because a script may stop the gateway as soon as it sees
        // it.
        const ended = runUntilStopped(app, log);
        tell(app);
        code = await ended;
      }
    } finally {
      // A write that nobody reads would keep the process alive.
      if (!(await log.flush())) process.exit(code);
    }
    return code;
  },
});

/** The first process of several serves no calls, and uses 18 MB less without it. */
const loadApp = () => import("../../app/start-app.ts");

/** One of several processes. The first process decides on their number and prints the banner. */
async function runWorker(worker: WorkerProcess, source: ConfigSource, config: Config, log: Log): Promise<number> {
  const sharing = config.redis === undefined ? worker.sharing : undefined;
  const { parent, metrics, events, siblings, processes, simulator, firstAheadMs } = worker;
  const shared = {
    mainProcess: parent,
    sharing,
    metrics,
    events,
    siblings,
    processes,
    simulator,
    firstAheadMs,
    sharesPorts: true,
  };
  const { startApp } = await loadApp();
  const app = await startApp({ ...source, log, ...shared });
  worker.ready(app);
  try {
    return await runUntilStopped(app, log, worker);
  } finally {
    worker.leave();
  }
}

async function runWorkers(count: number, config: Config, log: Log, tell: (app: StartedApp) => void): Promise<number> {
  await requireOwnPort("server", config.server);
  await requireOwnPort("admin", config.admin);
  // One for all of them, since its jobs are in memory.
  const simulator = config.simulator ? await startOwnSimulator(system.random) : undefined;
  const workers = new Workers({
    count,
    command: [...ownCommand(), ...process.argv.slice(2), ...chosenPorts(config)],
    environment: process.env,
    sources: system,
    leaseMs: DEFAULT_TIMINGS.limitLeaseMs,
    log,
    simulator: simulator?.access,
  });
  const stop = () => workers.stop();
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  process.on("SIGHUP", () => workers.reload());
  const app = await workers.start();
  if (app !== undefined) tell(app);
  const code = await workers.ended;
  await simulator?.stop();
  return code;
}

/**
 * Workers share their ports, and so would share those of another gateway without an error. Workers of a gateway that was killed
 * may still hold them for a moment.
 */
async function requireOwnPort(
  section: "server" | "admin",
  { host, port }: { host: string; port: number },
): Promise<void> {
  const fields = { host: `${section}.host`, port: `${section}.port`, portFlag: PORT_FLAGS[section] };
  for (let tries = 0; port !== 0; tries++) {
    try {
      return await Bun.serve({ hostname: host, port, fetch: () => new Response() }).stop(true);
    } catch (cause) {
      if (tries === PORT_TRIES) throw listenFailure(cause, { host, port, fields });
      await system.clock.sleep(PORT_WAIT_MS);
    }
  }
}

/** The command that starts this program; the compiled program is a single file. */
function ownCommand(): string[] {
  const isCompiled = Bun.main.startsWith("/$bunfs/") || /^[A-Z]:[\\/]~BUN/.test(Bun.main);
  return isCompiled ? [process.execPath] : [process.execPath, ...process.execArgv, Bun.main];
}

/** A port that the system chooses must be the same for all workers. */
function chosenPorts({ server, admin }: Config): string[] {
  return [
    ...(server.port === 0 ? ["--port", String(freePort(server.host))] : []),
    ...(admin.port === 0 ? ["--admin-port", String(freePort(admin.host))] : []),
  ];
}

function freePort(hostname: string): number {
  const probe = Bun.listen({ hostname, port: 0, socket: { data: () => undefined } });
  const { port } = probe;
  probe.stop(true);
  return port;
}

/** The exit code is a failure if receipts were lost. */
async function runUntilStopped(app: App, log: Log, worker?: WorkerProcess): Promise<number> {
  // A fault in one call must not end the others: it is logged, and the gateway continues.
  process.on("uncaughtException", (err) => log.error({ err }, "uncaught exception"));
  process.on("unhandledRejection", (err) => log.error({ err }, "unhandled rejection"));
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  const hurry = new AbortController();
  let signals = 0;
  const stop = () => (++signals === 1 ? resolve() : hurry.abort());
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  process.on("SIGHUP", () => app.reload());
  // If the first process ends, even by SIGKILL, the workers end at once: nothing would share their limits or replace them.
  worker?.onOrphaned(() => {
    hurry.abort();
    resolve();
  });
  let stops = 0;
  worker?.onStop(() => (++stops === 1 ? resolve() : hurry.abort()));
  await stopped;
  const active = app.active();
  const waiting = active === 1 ? "waiting for 1 active request" : `waiting for ${active} active requests`;
  log.info({ active }, active === 0 ? "shutting down" : `shutting down: ${waiting} (Ctrl-C again to force)`);
  const { lostReceipts } = await app.stop(hurry.signal);
  if (lostReceipts === 0) return EXIT.ok;
  log.error({ receipts: lostReceipts }, "receipts could not be stored; the log has the amounts of each");
  return EXIT.failed;
}

function readSource(values: Given<typeof FLAGS>["values"]): ConfigSource {
  const port = readPort("--port", values.port);
  const adminPort = readPort("--admin-port", values["admin-port"]);
  if (values.host === "") throw new UsageError("--host is empty. Pass an address such as 127.0.0.1.");
  return {
    ...configSource(values.config),
    overrides: withoutAbsent({ port, host: values.host, adminPort, workers: readWorkers(values.workers) }),
  };
}

const readWorkers = (text: string | undefined): number | "auto" | undefined =>
  text === "auto" ? text : readWholeNumber("--workers", text, 1, MAX_WORKERS);

/** The configuration was checked on load; here the ports may come from the command line. */
function checkPorts({ server, admin }: Config): void {
  if (server.port === 0 || server.port !== admin.port || server.host !== admin.host) return;
  throw new UsageError(`Port ${server.port} is also the port of the Admin API. Choose another one with --admin-port.`);
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

const tellPrograms = (started: StartedApp) => {
  const { url, adminUrl, publicUrl, models, providers, missing, firstStart } = started;
  return {
    url,
    admin_url: adminUrl,
    console_url: shownConsole(started, false),
    base_urls: baseUrls(publicUrl),
    models,
    providers,
    missing_providers: missing,
    first_start: withoutAbsent({ api_key: firstStart.apiKey, admin_secret: firstStart.adminSecret }),
  };
};
