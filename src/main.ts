import { runCommand } from "./cli/run-command.ts";

process.exitCode = await runCommand(process.argv.slice(2));
// A start that failed half-way may leave a part running, which would keep the process.
if (process.exitCode !== 0) process.exit();
