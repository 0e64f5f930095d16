import { type ProjectUpdate, type ProjectView, projectView, updateProject } from "../access/projects.ts";
import { system } from "../base/system.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import { COMMAND_LINE } from "./actor.ts";
import { atGateway, GATEWAY_FLAGS } from "./at-gateway.ts";
import { defineCommand, EXIT, printJson, UsageError } from "./command.ts";
import { inFileNames } from "./in-file-names.ts";
import {
  DISCOUNT_FLAG,
  KEY_FLAGS,
  OBJECTS_FLAG,
  readDiscountFlags,
  readLimitChanges,
  readSharing,
  readUnpricedChange,
  UNPRICED_FLAG,
} from "./key-flags.ts";
import { withStorage } from "./with-storage.ts";

export const updateProjectCommand = defineCommand({
  name: "projects update",
  usage: "ID …",
  summary: "change the project with this id; what is not named stays",
  flags: {
    name: { type: "string", value: "NAME", about: "new name for people; the id stays" },
    discount: { ...DISCOUNT_FLAG, about: `${DISCOUNT_FLAG.about}; replaces all of them, "none" takes them away` },
    limit: { ...KEY_FLAGS.limit, about: `for all its keys together: ${KEY_FLAGS.limit.about}; NAME=none removes it` },
    suspend: { type: "boolean", default: false, about: "refuse all calls of its keys" },
    activate: { type: "boolean", default: false, about: "take its calls again" },
    "provider-objects": { type: "boolean", about: "let requests of its keys name objects in providers' accounts" },
    "no-provider-objects": { type: "boolean", about: "refuse such requests" },
    objects: { ...OBJECTS_FLAG, about: "who may see what its keys store: all of them, or only the key that stored it" },
    unpriced: { ...UNPRICED_FLAG, about: `${UNPRICED_FLAG.about}; "default" takes the setting away` },
    ...GATEWAY_FLAGS,
  },
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Name the project to change by its id.");
    if (values.suspend && values.activate) throw new UsageError("--suspend and --activate exclude each other.");
    if (values["provider-objects"] && values["no-provider-objects"])
      throw new UsageError("--provider-objects and --no-provider-objects exclude each other.");
    const update: ProjectUpdate = {
      ...withoutAbsent({ name: values.name }),
      ...(values.limit.length === 0 ? {} : { limits: readLimitChanges(values.limit) }),
      ...(values.discount.length === 0 ? {} : { discounts: readDiscountFlags(values.discount) }),
      ...(values.unpriced === undefined ? {} : { billing: { unpriced: readUnpricedChange(values.unpriced) } }),
      ...(values.suspend ? { status: "suspended" as const } : {}),
      ...(values.activate ? { status: "active" as const } : {}),
      ...(values["provider-objects"] ? { providerObjects: true } : {}),
      ...(values["no-provider-objects"] ? { providerObjects: false } : {}),
      ...(values.objects === undefined ? {} : { objects: readSharing(values.objects) }),
    };
    if (Object.keys(update).length === 0) throw new UsageError("Nothing is to change: name at least one option.");
    const changed = await atGateway(
      values,
      async (client) =>
        (await client.change("PATCH", `/api/projects/${encodeURIComponent(id)}`, inFileNames(update))) as ProjectView,
      () =>
        withStorage(values.config, async (storage) =>
          projectView(await updateProject(storage, id, update, system, COMMAND_LINE)),
        ),
    );
    if (values.json) printJson(changed);
    else console.log(`The project ${changed.id} is changed; running gateways apply it within a second.`);
    return EXIT.ok;
  },
});
