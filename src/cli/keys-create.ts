import { KEY_WATCH_MS } from "../access/key-ring.ts";
import { readKeyRouting } from "../access/key-routing.ts";
import { createKey } from "../access/keys.ts";
import { readLimits } from "../access/limits.ts";
import { system } from "../base/system.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import { COMMAND_LINE } from "./actor.ts";
import { atGateway, GATEWAY_FLAGS } from "./at-gateway.ts";
import { defineCommand, EXIT, printJson, UsageError } from "./command.ts";
import { inFileNames } from "./in-file-names.ts";
import {
  KEY_FLAGS,
  OBJECTS_FLAG,
  readExpiry,
  readLimitFlags,
  readProtocols,
  readRoutingFlags,
  readSharing,
  readUnpriced,
  UNPRICED_FLAG,
} from "./key-flags.ts";
import { withStorage } from "./with-storage.ts";

/** Running gateways poll for changes; a key that is used the moment it is shown must not be refused. */
const KNOWN_WITHIN_MS = KEY_WATCH_MS + 100;

type Created = Awaited<ReturnType<typeof createKey>>;

export const createKeyCommand = defineCommand({
  name: "keys create",
  usage: "--name NAME …",
  summary: "create a key and show it, once",
  flags: {
    name: { type: "string", value: "NAME", about: "name of the key" },
    project: { type: "string", default: "default", value: "P", about: "project for usage reports" },
    ...KEY_FLAGS,
    strict: { type: "boolean", default: false, about: "refuse requests with fields that cannot be honoured exactly" },
    capture: {
      type: "boolean",
      default: false,
      about: "keep the bodies of its calls for a while, for operators to read",
    },
    "provider-objects": {
      type: "boolean",
      default: false,
      about: "let its requests name objects in providers' accounts, such as files, caches and vector stores",
    },
    objects: OBJECTS_FLAG,
    unpriced: UNPRICED_FLAG,
    ...GATEWAY_FLAGS,
  },
  run: async ({ values }) => {
    if (!values.name) throw new UsageError("--name is missing.");
    const { name, project } = values;
    const request = {
      name,
      project,
      ...withoutAbsent({
        models: values.models?.split(","),
        protocols: values.protocols === undefined ? undefined : readProtocols(values.protocols),
        expiresAtMs: values.expires === undefined ? undefined : readExpiry(values.expires),
      }),
      limits: readLimits(readLimitFlags(values.limit)),
      ...withoutAbsent({ networks: values.networks?.split(","), scopes: values.scopes?.split(",") }),
      ...(values.strict ? { strict: true } : {}),
      ...(values.capture ? { capture: true } : {}),
      ...(values["provider-objects"] ? { providerObjects: true } : {}),
      ...(values.objects === undefined ? {} : { objects: readSharing(values.objects) }),
      ...(values.tag.length === 0 ? {} : { tags: values.tag }),
      ...(values.unpriced === undefined ? {} : { billing: { unpriced: readUnpriced(values.unpriced) } }),
      ...(values.routing.length === 0 ? {} : { routing: readKeyRouting(readRoutingFlags(values.routing)) }),
    };
    const created = await atGateway(
      values,
      async (client) => (await client.change("POST", "/api/keys", inFileNames(request))) as Created,
      async () => {
        const made = await withStorage(values.config, (storage) => createKey(storage, request, system, COMMAND_LINE), {
          mayCreate: true,
        });
        await Bun.sleep(KNOWN_WITHIN_MS);
        return made;
      },
    );
    if (values.json) printJson(created);
    else console.log(`${created.key}\n\nThis is the only time that the key is shown. Its id is ${created.id}.`);
    return EXIT.ok;
  },
});
