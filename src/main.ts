export {};

// Compiled into one file, the program is the source of its threads too: these have work of their own.
if (Bun.isMainThread) {
  const { runCommand } = await import("./cli/run-command.ts");
  process.exitCode = await runCommand(process.argv.slice(2));
  // A start that failed half-way may leave a part running, which would keep the process.
  if (process.exitCode !== 0) process.exit();
} else await (await import("./app/load-thread.ts")).loadThread();
