import { GatewayError } from "../canon/error.ts";
import { ConfigError } from "../config/load.ts";
import { VERSION } from "../version.ts";
import { check } from "./check.ts";
import { type Command, EXIT, isHelpFlag, UsageError, usageLine } from "./command.ts";
import { image } from "./image.ts";
import { keys } from "./keys.ts";
import { models } from "./models.ts";
import { openapi } from "./openapi.ts";
import { serve } from "./serve.ts";
import { sim } from "./sim.ts";
import { usage } from "./usage.ts";
import { video } from "./video.ts";

const COMMANDS: readonly Command[] = [serve, check, keys, models, image, video, usage, sim, openapi];

function help(): string {
  const lines = COMMANDS.map(({ name, usage: behind, summary }) => `  ${`${name} ${behind}`.padEnd(64)}${summary}`);
  return [
    `trivium ${VERSION}: one API key, every provider, three wire protocols.`,
    "",
    "Usage: trivium <command> [--config FILE] [--json]; trivium <command> --help tells its options",
    "",
    ...lines,
  ].join("\n");
}

/** Runs one command and gives its exit code. Whatever a person can mend is told in one line, without a stack. */
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
  const command = COMMANDS.find((one) => one.name === name);
  try {
    if (!command) throw new UsageError(`There is no command "${name}".`);
    return await command.run(rest);
  } catch (error) {
    if (error instanceof UsageError) {
      console.error(`${error.message}\n\n${command ? usageLine(command) : help()}`);
      return EXIT.usage;
    }
    if (error instanceof ConfigError || error instanceof GatewayError) {
      console.error(error.message);
      return error instanceof GatewayError && error.kind === "content_blocked" ? EXIT.moderated : EXIT.failed;
    }
    throw error;
  }
}
