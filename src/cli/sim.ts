import { startSimulator } from "../sim/simulator.ts";
import { type Command, EXIT, printJson, readFlags } from "./command.ts";

export const sim: Command = {
  name: "sim",
  usage: "[--port 8790] [--host 127.0.0.1]",
  summary: "run the simulator of upstream providers by itself",
  run: async (args) => {
    const { values } = readFlags(args, {
      port: { type: "string", default: "8790" },
      host: { type: "string", default: "127.0.0.1" },
    });
    const simulator = await startSimulator({ port: Number(values.port), host: values.host });
    if (values.json) printJson({ url: simulator.url });
    else console.log(`The simulator (not a model) is listening on ${simulator.url}`);
    const { promise: told, resolve } = Promise.withResolvers<void>();
    process.on("SIGTERM", () => resolve());
    process.on("SIGINT", () => resolve());
    await told;
    await simulator.stop();
    return EXIT.ok;
  },
};
