import { type KeyView, keyView } from "../access/key-view.ts";
import { revokeKey } from "../access/keys.ts";
import { system } from "../base/system.ts";
import { COMMAND_LINE } from "./actor.ts";
import { atGateway, GATEWAY_FLAGS } from "./at-gateway.ts";
import { checkStoredKey } from "./check-stored-key.ts";
import { defineCommand, EXIT, printJson, UsageError } from "./command.ts";
import { withStorage } from "./with-storage.ts";

export const revokeKeyCommand = defineCommand({
  name: "keys revoke",
  usage: "ID",
  summary: "revoke the key with this id or name, and the keys that it made",
  flags: GATEWAY_FLAGS,
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Name the key to revoke by its id or its name.");
    const revoked = await atGateway(
      values,
      async (client) => (await client.change("DELETE", `/api/keys/${encodeURIComponent(id)}`)) as KeyView,
      () =>
        withStorage(values.config, async (storage, config) => {
          await checkStoredKey(id, storage, config, "remove");
          return keyView(await revokeKey(storage, id, system, COMMAND_LINE));
        }),
    );
    if (values.json) printJson(revoked);
    else console.log(`${revoked.name} (${revoked.id}) is revoked; running gateways refuse it within a second.`);
    return EXIT.ok;
  },
});
