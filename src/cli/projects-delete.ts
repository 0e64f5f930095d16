import { deleteProject, projectView } from "../access/projects.ts";
import { system } from "../base/system.ts";
import { COMMAND_LINE } from "./actor.ts";
import { defineCommand, EXIT, printJson, UsageError } from "./command.ts";
import { withStorage } from "./with-storage.ts";

export const deleteProjectCommand = defineCommand({
  name: "projects delete",
  usage: "ID",
  summary: "delete the project with this id, once its keys are revoked; its receipts stay",
  flags: {},
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Name the project to delete by its id.");
    const deleted = await withStorage(values.config, (storage) => deleteProject(storage, id, system, COMMAND_LINE));
    if (values.json) printJson(projectView(deleted));
    else console.log(`The project ${deleted.id} is deleted. Its receipts stay, and no other project can have its id.`);
    return EXIT.ok;
  },
});
