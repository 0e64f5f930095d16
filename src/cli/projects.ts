import { type Command, EXIT, isHelpFlag, UsageError } from "./command.ts";
import { aboutCommand } from "./commands.ts";
import { createProjectCommand } from "./projects-create.ts";
import { deleteProjectCommand } from "./projects-delete.ts";
import { listProjectsCommand } from "./projects-list.ts";
import { updateProjectCommand } from "./projects-update.ts";

const VERBS: readonly Command[] = [
  createProjectCommand,
  listProjectsCommand,
  updateProjectCommand,
  deleteProjectCommand,
];

export const projects: Command = {
  ...aboutCommand("projects"),
  help: () => VERBS.map((verb) => verb.help()).join("\n\n"),
  run: async ([verb = "list", ...args]) => {
    if (isHelpFlag(verb)) {
      console.log(projects.help());
      return EXIT.ok;
    }
    // Flags without a subcommand belong to `list`.
    const [name, rest] = verb.startsWith("-") ? ["list", [verb, ...args]] : [verb, args];
    const command = VERBS.find((one) => one.name === `projects ${name}`);
    if (!command) throw new UsageError(`There is no "projects ${name}".`);
    return command.run(rest);
  },
};
