import { type Command, EXIT, isHelpFlag, UsageError } from "./command.ts";
import { aboutCommand } from "./commands.ts";

/** A command whose first argument names what to do; without one, and with flags alone, `list` is meant. */
export function withVerbs(name: string, verbs: readonly Command[]): Command {
  const help = () => verbs.map((verb) => verb.help()).join("\n\n");
  return {
    ...aboutCommand(name),
    help,
    run: async ([verb = "list", ...args]) => {
      if (isHelpFlag(verb)) {
        console.log(help());
        return EXIT.ok;
      }
      const [wanted, rest] = verb.startsWith("-") ? ["list", [verb, ...args]] : [verb, args];
      const command = verbs.find((one) => one.name === `${name} ${wanted}`);
      if (!command) throw new UsageError(`There is no "${name} ${wanted}".`);
      return command.run(rest);
    },
  };
}
