import { type Command, EXIT, isHelpFlag, UsageError } from "./command.ts";
import { aboutCommand } from "./commands.ts";
import { createKeyCommand } from "./keys-create.ts";
import { listKeysCommand } from "./keys-list.ts";
import { revokeKeyCommand } from "./keys-revoke.ts";
import { rotateKeyCommand } from "./keys-rotate.ts";
import { updateKeyCommand } from "./keys-update.ts";

const VERBS: readonly Command[] = [
  createKeyCommand,
  listKeysCommand,
  updateKeyCommand,
  rotateKeyCommand,
  revokeKeyCommand,
];

export const keys: Command = {
  ...aboutCommand("keys"),
  help: () => VERBS.map((verb) => verb.help()).join("\n\n"),
  run: async ([verb = "list", ...args]) => {
    if (isHelpFlag(verb)) {
      console.log(keys.help());
      return EXIT.ok;
    }
    // Flags without a subcommand belong to `list`.
    const [name, rest] = verb.startsWith("-") ? ["list", [verb, ...args]] : [verb, args];
    const command = VERBS.find((one) => one.name === `keys ${name}`);
    if (!command) throw new UsageError(`There is no "keys ${name}".`);
    return command.run(rest);
  },
};
