import {
  type Command,
  type CommandAbout,
  type Definition,
  defineCommand,
  EXIT,
  type Flags,
  isHelpFlag,
  UsageError,
} from "./command.ts";

interface Verb extends CommandAbout {
  command: Command;
}

/** What a command can be told to do by its first argument, such as `create`. */
export function defineVerb<const F extends Flags>(verb: CommandAbout & Definition<F>): Verb {
  const { name, usage, summary, ...definition } = verb;
  return { name, usage, summary, command: defineCommand(definition) };
}

/** A command whose first argument is a verb; without one, and with flags alone, `bare` is meant. */
export function withVerbs(verbs: readonly Verb[], bare = "list"): Command {
  const help = ({ name }: CommandAbout) => verbs.map((verb) => verb.command.help(aboutVerb(name, verb))).join("\n\n");
  return {
    help,
    run: async ([first = bare, ...args], about) => {
      if (isHelpFlag(first)) {
        console.log(help(about));
        return EXIT.ok;
      }
      const [word, rest] = first.startsWith("-") ? [bare, [first, ...args]] : [first, args];
      const verb = verbs.find(({ name }) => name === word);
      if (!verb) throw new UsageError(`There is no "${about.name} ${word}".`);
      return verb.command.run(rest, aboutVerb(about.name, verb));
    },
  };
}

const aboutVerb = (command: string, { name, usage, summary }: Verb): CommandAbout => ({
  name: `${command} ${name}`,
  usage,
  summary,
});
