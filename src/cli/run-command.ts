import { GatewayError } from "../canon/error.ts";
import { ConfigError } from "../config/config-error.ts";
import { nearestName } from "../config/nearest-name.ts";
import { VERSION } from "../version.ts";
import { EXIT, isHelpFlag, UsageError, usageLine } from "./command.ts";
import { COMMANDS } from "./commands.ts";

function help(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  const lines = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return [
    `trivium ${VERSION}: one API key, every provider, four wire protocols.`,
    "",
    "Usage: trivium <command> [options]",
    "",
    ...lines,
    "",
    "Run `trivium <command> --help` for the options of a command. Every command takes --config FILE and --json.",
  ].join("\n");
}

/** Runs one command and returns its exit code. A mistake that a person can fix is reported in one line, without a stack. */
export async function runCommand(args: readonly string[]): Promise<number> {
  const [name = "help", ...rest] = args;
  if (name === "help" || isHelpFlag(name)) {
    console.log(help());
    return EXIT.ok;
  }
  if (name === "--version" || name === "-v") {
    console.log(VERSION);
    return EXIT.ok;
  }
  const listed = COMMANDS.find((one) => one.name === name);
  try {
    if (!listed) throw new UsageError(`There is no command "${name}".${guess(name)}`);
    const command = await listed.load();
    return await command.run(rest, listed);
  } catch (error) {
    if (error instanceof UsageError) {
      console.error(`${error.message}\n\n${listed ? usageLine(listed) : help()}`);
      return EXIT.usage;
    }
    if (error instanceof ConfigError || error instanceof GatewayError) {
      console.error(error.message);
      return error instanceof GatewayError && error.kind === "content_blocked" ? EXIT.moderated : EXIT.failed;
    }
    throw error;
  }
}

function guess(name: string): string {
  const near = nearestName(
    name,
    COMMANDS.map((command) => command.name),
  );
  return near === undefined ? "" : ` Did you mean "${near}"?`;
}
