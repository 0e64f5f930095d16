import { loadSimulator } from "../../app/load-simulator.ts";
import { GatewayError } from "../../canon/error.ts";
import { listenFailure } from "../../server/listen-failure.ts";
import { defineCommand, EXIT, printJson, UsageError } from "../command.ts";
import { readPort } from "../whole-number.ts";

export const sim = defineCommand({
  flags: {
    port: { type: "string", default: "8790", value: "PORT", about: "port to listen on; 0 selects a free port" },
    host: { type: "string", default: "127.0.0.1", value: "HOST", about: "address to listen on" },
  },
  run: async ({ values }) => {
    const port = readPort("--port", values.port) ?? 0;
    const simulator = await startOrExplain(values.host, port);
    if (values.json) printJson({ url: simulator.url });
    else console.log(`The provider simulator is listening on ${simulator.url}`);
    const { promise: stopped, resolve } = Promise.withResolvers<void>();
    process.on("SIGTERM", () => resolve());
    process.on("SIGINT", () => resolve());
    await stopped;
    await simulator.stop();
    return EXIT.ok;
  },
});

async function startOrExplain(host: string, port: number) {
  const { startSimulator } = await loadSimulator();
  const fields = { host: "--host", port: "--port" };
  try {
    return await startSimulator({ port, host });
  } catch (cause) {
    const failure = listenFailure(cause, { host, port, fields });
    // A port that is in use is not a usage mistake; an invalid host is one.
    const isMistake = failure instanceof GatewayError && failure.path === fields.host;
    throw isMistake ? new UsageError(failure.message, { cause }) : failure;
  }
}
