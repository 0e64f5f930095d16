import { rotateKey } from "../access/keys.ts";
import { system } from "../base/system.ts";
import { COMMAND_LINE } from "./actor.ts";
import { checkStoredKey } from "./check-stored-key.ts";
import { defineCommand, EXIT, printJson, UsageError } from "./command.ts";
import { readWholeNumber } from "./whole-number.ts";
import { withStorage } from "./with-storage.ts";

const DEFAULT_OVERLAP = "3600";

export const rotateKeyCommand = defineCommand({
  name: "keys rotate",
  usage: "ID [--overlap SECONDS]",
  summary: "give the key with this id or name a new secret and show it, once",
  flags: {
    overlap: {
      type: "string",
      default: DEFAULT_OVERLAP,
      value: "SECONDS",
      about: "how long the old secret works beside the new one; 0 ends it now",
    },
  },
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Name the key to rotate by its id or its name.");
    const overlapSeconds = readWholeNumber("--overlap", values.overlap, 0) ?? 0;
    const rotated = await withStorage(values.config, async (storage, config) => {
      await checkStoredKey(id, storage, config, "change");
      return rotateKey(storage, id, { overlapSeconds }, system, COMMAND_LINE);
    });
    const until = new Date(rotated.previousUntilMs).toISOString();
    if (values.json) printJson({ id: rotated.id, key: rotated.key, hint: rotated.hint, previous_until: until });
    else {
      const old = overlapSeconds === 0 ? "The old one ends within a second." : `The old one works until ${until}.`;
      console.log(`${rotated.key}\n\nThis is the only time that the new secret is shown. ${old}`);
    }
    return EXIT.ok;
  },
});
