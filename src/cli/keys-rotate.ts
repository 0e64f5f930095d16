import { DEFAULT_OVERLAP_SECONDS, rotateKey } from "../access/keys.ts";
import { system } from "../base/system.ts";
import { COMMAND_LINE } from "./actor.ts";
import { atGateway, GATEWAY_FLAGS } from "./at-gateway.ts";
import { checkStoredKey } from "./check-stored-key.ts";
import { defineCommand, EXIT, printJson, UsageError } from "./command.ts";
import { readWholeNumber } from "./whole-number.ts";
import { withStorage } from "./with-storage.ts";

interface Rotated {
  id: string;
  key: string;
  hint: string;
  previous_until: string;
}

export const rotateKeyCommand = defineCommand({
  name: "keys rotate",
  usage: "ID [--overlap SECONDS]",
  summary: "give the key with this id or name a new secret and show it, once",
  flags: {
    overlap: {
      type: "string",
      default: String(DEFAULT_OVERLAP_SECONDS),
      value: "SECONDS",
      about: "how long the old secret keeps working; 0 ends it now",
    },
    ...GATEWAY_FLAGS,
  },
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Name the key to rotate by its id or its name.");
    const overlapSeconds = readWholeNumber("--overlap", values.overlap, 0) ?? 0;
    const rotated = await atGateway(
      values,
      async (client) => {
        const path = `/api/keys/${encodeURIComponent(id)}/rotate`;
        return (await client.change("POST", path, { overlap_seconds: overlapSeconds })) as Rotated;
      },
      () =>
        withStorage(values.config, async (storage, config): Promise<Rotated> => {
          await checkStoredKey(id, storage, config, "change");
          const { previousUntilMs, ...made } = await rotateKey(storage, id, { overlapSeconds }, system, COMMAND_LINE);
          return { ...made, previous_until: new Date(previousUntilMs).toISOString() };
        }),
    );
    const until = rotated.previous_until;
    if (values.json) printJson(rotated);
    else {
      const old = overlapSeconds === 0 ? "The old one ends within a second." : `The old one works until ${until}.`;
      console.log(`${rotated.key}\n\nThis is the only time that the new secret is shown. ${old}`);
    }
    return EXIT.ok;
  },
});
