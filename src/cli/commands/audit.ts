import { LIST_FLAGS, printAdminList } from "../admin-list.ts";
import { defineCommand } from "../command.ts";

const COLUMNS = ["at", "who", "address", "act", "target", "project", "before", "after"] as const;

export const audit = defineCommand({
  flags: {
    act: { type: "string", value: "ACT", about: "only this action, such as key.create" },
    who: { type: "string", value: "WHO", about: "only actions by this operator" },
    project: { type: "string", value: "P", about: "only actions that affect this project" },
    ...LIST_FLAGS,
  },
  run: ({ values }) => {
    const { act, who, project } = values;
    return printAdminList(values, "/api/audit", { act, who, project }, COLUMNS);
  },
});
