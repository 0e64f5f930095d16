import { GatewayError } from "../canon/error.ts";
import { ConfigError } from "../config/config-error.ts";
import { nearestName } from "../config/nearest-name.ts";
import { VERSION } from "../version.ts";
import { columns, EXIT, isHelpFlag, UsageError, usageLine } from "./command.ts";
import { COMMAND_GROUPS, COMMANDS } from "./commands.ts";

function help(): string {
  const rows = columns(COMMANDS.map(({ name, summary }) => [name, summary]));
  const groups = COMMAND_GROUPS.flatMap(({ title, commands }) => [`${title}:`, ...rows.splice(0, commands.length), ""]);
  return [
    `Trivium ${VERSION}, a gateway for generative models: one API key for every provider, in five wire protocols.`,
    "",
    "Usage: trivium <command> [options]",
    "",
    ...groups,
    "Run `trivium <command> --help` for details about a command. Every command accepts --config FILE and --json.",
  ].join("\n");
}

const LIST_HINT = "Run `trivium --help` for a list of commands.";

/** Runs one command and returns its exit code. Errors that the user can fix are printed without a stack trace. */
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
    if (!listed) throw new UsageError(`Unknown command "${name}".${guess(name)}`);
    const command = await listed.load();
    return await command.run(rest, listed);
  } catch (error) {
    if (error instanceof UsageError) {
      const advice = listed ? `${usageLine(listed)}\nRun \`trivium ${name} --help\` for details.` : LIST_HINT;
      console.error(`${error.message}\n\n${advice}`);
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
