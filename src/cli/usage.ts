import { type Command, UsageError } from "./command.ts";
import { aboutCommand } from "./commands.ts";
import { checkUsage } from "./usage-check.ts";
import { exportUsage } from "./usage-export.ts";
import { usageReport } from "./usage-report.ts";

const VERBS: readonly Command[] = [exportUsage, checkUsage];

export const usage: Command = {
  ...aboutCommand("usage"),
  help: () => [usageReport, ...VERBS].map((verb) => verb.help()).join("\n\n"),
  run: async (args) => {
    const [verb, ...rest] = args;
    // Without a word it is the report, whose arguments are all flags.
    if (verb === undefined || verb.startsWith("-")) return usageReport.run(args);
    const command = VERBS.find((one) => one.name === `usage ${verb}`);
    if (command) return command.run(rest);
    throw new UsageError(`There is no "usage ${verb}".`);
  },
};
