import { keyView } from "../access/key-view.ts";
import { revokeKey } from "../access/keys.ts";
import { system } from "../base/system.ts";
import { COMMAND_LINE } from "./actor.ts";
import { checkStoredKey } from "./check-stored-key.ts";
import { defineCommand, EXIT, printJson, UsageError } from "./command.ts";
import { withStorage } from "./with-storage.ts";

export const revokeKeyCommand = defineCommand({
  name: "keys revoke",
  usage: "ID",
  summary: "revoke the key with this id or name, and the keys that it made",
  flags: {},
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Name the key to revoke by its id or its name.");
    const revoked = await withStorage(values.config, async (storage, config) => {
      await checkStoredKey(id, storage, config, "remove");
      return revokeKey(storage, id, system, COMMAND_LINE);
    });
    if (values.json) printJson(keyView(revoked));
    else console.log(`${revoked.name} (${revoked.id}) is revoked; running gateways refuse it within a second.`);
    return EXIT.ok;
  },
});
