import { createProject, type ProjectView, projectView } from "../access/projects.ts";
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
  readLimitFlags,
  readSharing,
  readUnpriced,
  UNPRICED_FLAG,
} from "./key-flags.ts";
import { withStorage } from "./with-storage.ts";

export const createProjectCommand = defineCommand({
  name: "projects create",
  usage: "ID [--name NAME] [--limit NAME=NUMBER] …",
  summary: "create a project, which keys can then belong to",
  flags: {
    name: { type: "string", value: "NAME", about: "name for people (default: the id)" },
    discount: DISCOUNT_FLAG,
    limit: { ...KEY_FLAGS.limit, about: `for all its keys together: ${KEY_FLAGS.limit.about}` },
    "provider-objects": {
      type: "boolean",
      default: false,
      about: "let requests of its keys name objects in providers' accounts, such as files, caches and vector stores",
    },
    objects: { ...OBJECTS_FLAG, about: "who may see what its keys store: all of them, or only the key that stored it" },
    unpriced: UNPRICED_FLAG,
    ...GATEWAY_FLAGS,
  },
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Give the project an id, such as team-a.");
    const limits = readLimitFlags(values.limit);
    const discounts = readDiscountFlags(values.discount);
    const request = {
      id,
      ...withoutAbsent({ name: values.name }),
      limits,
      discounts,
      ...(values["provider-objects"] ? { providerObjects: true } : {}),
      ...withoutAbsent({
        objects: values.objects === undefined ? undefined : readSharing(values.objects),
        billing: values.unpriced === undefined ? undefined : { unpriced: readUnpriced(values.unpriced) },
      }),
    };
    const created = await atGateway(
      values,
      async (client) => (await client.change("POST", "/api/projects", inFileNames(request))) as ProjectView,
      () =>
        withStorage(
          values.config,
          async (storage) => projectView(await createProject(storage, request, system, COMMAND_LINE)),
          { mayCreate: true },
        ),
    );
    if (values.json) printJson(created);
    else console.log(`The project ${created.id} is created. Keys are made in it with --project ${created.id}.`);
    return EXIT.ok;
  },
});
