export {};

// A proxy for the outside does not reach this machine: without this, calls of the simulator and commands for a gateway here
// would be sent to it. Both the runtime and `src/wire` read the variable.
const direct = "localhost,127.0.0.1,::1";
const exceptions = process.env["no_proxy"] || process.env["NO_PROXY"] || "";
if (!exceptions.includes(direct)) process.env["no_proxy"] = exceptions === "" ? direct : `${exceptions},${direct}`;

// Compiled into one file, the program is the source of its threads too: these have work of their own.
if (Bun.isMainThread) {
  const { runCommand } = await import("./cli/run-command.ts");
  process.exitCode = await runCommand(process.argv.slice(2));
  // A start that failed half-way may leave a part running, which would keep the process.
  if (process.exitCode !== 0) process.exit();
} else await (await import("./app/load-thread.ts")).loadThread();
