import { nearestName } from "../config/nearest-name.ts";
import {
  type Command,
  type CommandAbout,
  columns,
  commonOptions,
  type Definition,
  defineCommand,
  EXIT,
  type Flags,
  isHelpFlag,
  sentence,
  UsageError,
} from "./command.ts";

interface Verb extends CommandAbout {
  command: Command;
}

/** A subcommand, such as `create`. */
export function defineVerb<const F extends Flags>(verb: CommandAbout & Definition<F>): Verb {
  const { name, usage, summary, ...definition } = verb;
  return { name, usage, summary, command: defineCommand(definition) };
}

/** A command with subcommands. Without one, or with only flags, `bare` runs. */
export function withVerbs(verbs: readonly Verb[], bare = "list"): Command {
  const help = ({ name, summary }: CommandAbout) =>
    [
      `Usage: trivium ${name} [command] [options]`,
      "",
      sentence(summary),
      "",
      ...listVerbs(verbs),
      "",
      "Options of every command:",
      ...commonOptions(),
      "",
      `Run \`trivium ${name} <command> --help\` for the options of a command. The default command is \`${bare}\`.`,
    ].join("\n");
  return {
    help,
    run: async ([first = bare, ...args], about) => {
      if (isHelpFlag(first)) {
        console.log(help(about));
        return EXIT.ok;
      }
      const [word, rest] = first.startsWith("-") ? [bare, [first, ...args]] : [first, args];
      const verb = verbs.find(({ name }) => name === word);
      if (!verb) throw new UsageError(`Unknown command "${about.name} ${word}".${didYouMean(word, verbs)}`);
      return verb.command.run(rest, aboutVerb(about.name, verb));
    },
  };
}

function didYouMean(word: string, verbs: readonly Verb[]): string {
  const near = nearestName(
    word,
    verbs.map(({ name }) => name),
  );
  return near === undefined ? "" : ` Did you mean "${near}"?`;
}

/** A section of the help. */
export const listVerbs = (verbs: readonly Verb[]): string[] => [
  "Commands:",
  ...columns(verbs.map(({ name, usage, summary }) => [`${name} ${usage}`.trimEnd(), summary])),
];

const aboutVerb = (command: string, { name, usage, summary }: Verb): CommandAbout => ({
  name: `${command} ${name}`,
  usage,
  summary,
});
