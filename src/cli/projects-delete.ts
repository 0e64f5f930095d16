import { deleteProject, type ProjectView, projectView } from "../access/projects.ts";
import { system } from "../base/system.ts";
import { COMMAND_LINE } from "./actor.ts";
import { atGateway, GATEWAY_FLAGS } from "./at-gateway.ts";
import { defineCommand, EXIT, printJson, UsageError } from "./command.ts";
import { withStorage } from "./with-storage.ts";

export const deleteProjectCommand = defineCommand({
  name: "projects delete",
  usage: "ID",
  summary: "delete the project with this id, once its keys are revoked; its receipts stay",
  flags: GATEWAY_FLAGS,
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Name the project to delete by its id.");
    const deleted = await atGateway(
      values,
      async (client) => (await client.change("DELETE", `/api/projects/${encodeURIComponent(id)}`)) as ProjectView,
      () =>
        withStorage(values.config, async (storage) =>
          projectView(await deleteProject(storage, id, system, COMMAND_LINE)),
        ),
    );
    if (values.json) printJson(deleted);
    else console.log(`The project ${deleted.id} is deleted. Its receipts stay, and no other project can have its id.`);
    return EXIT.ok;
  },
});
