import { type KeyView, keyView } from "../access/key-view.ts";
import { type KeyUpdate, updateKey } from "../access/keys.ts";
import { system } from "../base/system.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import { COMMAND_LINE } from "./actor.ts";
import { atGateway, GATEWAY_FLAGS } from "./at-gateway.ts";
import { checkStoredKey } from "./check-stored-key.ts";
import { defineCommand, EXIT, type Given, printJson, UsageError } from "./command.ts";
import { inFileNames } from "./in-file-names.ts";
import {
  KEY_FLAGS,
  OBJECTS_FLAG,
  readExpiry,
  readLimitChanges,
  readProtocols,
  readRoutingChanges,
  readSharing,
  readUnpricedChange,
  UNPRICED_FLAG,
} from "./key-flags.ts";
import { withStorage } from "./with-storage.ts";

const FLAGS = {
  name: { type: "string", value: "NAME", about: "new name" },
  ...KEY_FLAGS,
  protocols: { ...KEY_FLAGS.protocols, about: `${KEY_FLAGS.protocols.about}; "all" for every one` },
  expires: { ...KEY_FLAGS.expires, about: `${KEY_FLAGS.expires.about}; "never" for no end` },
  limit: { ...KEY_FLAGS.limit, about: `${KEY_FLAGS.limit.about}; NAME=none removes it` },
  routing: { ...KEY_FLAGS.routing, about: `${KEY_FLAGS.routing.about}; NAME=none removes it` },
  networks: { ...KEY_FLAGS.networks, about: `${KEY_FLAGS.networks.about}; "all" for every one` },
  scopes: { ...KEY_FLAGS.scopes, about: `${KEY_FLAGS.scopes.about}; "none" takes them away` },
  tag: { ...KEY_FLAGS.tag, about: `${KEY_FLAGS.tag.about}, in place of those it has; "none" takes them away` },
  strict: { type: "boolean", about: "refuse requests with fields that cannot be honoured exactly" },
  "no-strict": { type: "boolean", about: "adapt such requests" },
  capture: { type: "boolean", about: "keep the bodies of its calls for a while, for operators to read" },
  "no-capture": { type: "boolean", about: "keep none" },
  "provider-objects": { type: "boolean", about: "let its requests name objects in providers' accounts" },
  "no-provider-objects": { type: "boolean", about: "refuse such requests" },
  objects: { ...OBJECTS_FLAG, about: `${OBJECTS_FLAG.about}; "default" takes the setting away` },
  unpriced: { ...UNPRICED_FLAG, about: `${UNPRICED_FLAG.about}; "default" takes the setting away` },
  ...GATEWAY_FLAGS,
} as const;

export const updateKeyCommand = defineCommand({
  name: "keys update",
  usage: "ID …",
  summary: "change the key with this id or name; what is not named stays",
  flags: FLAGS,
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Name the key to change by its id or its name.");
    const update = readUpdate(values);
    if (Object.keys(update).length === 0) throw new UsageError("Nothing is to change: name at least one option.");
    const changed = await atGateway(
      values,
      async (client) =>
        (await client.change("PATCH", `/api/keys/${encodeURIComponent(id)}`, inFileNames(update))) as KeyView,
      () =>
        withStorage(values.config, async (storage, config) => {
          await checkStoredKey(id, storage, config, "change");
          return keyView(await updateKey(storage, id, update, system, COMMAND_LINE));
        }),
    );
    if (values.json) printJson(changed);
    else console.log(`${changed.name} (${changed.id}) is changed; running gateways apply it within a second.`);
    return EXIT.ok;
  },
});

const isNone = (given: readonly string[]): boolean => given.length === 1 && given[0] === "none";

type Switch = "strict" | "capture" | "provider-objects";

function readSwitch(values: Given<typeof FLAGS>["values"], name: Switch): boolean | undefined {
  if (values[name] && values[`no-${name}`]) throw new UsageError(`--${name} and --no-${name} exclude each other.`);
  return values[name] ? true : values[`no-${name}`] ? false : undefined;
}

function readUpdate(values: Given<typeof FLAGS>["values"]): KeyUpdate {
  const strict = readSwitch(values, "strict");
  const capture = readSwitch(values, "capture");
  const providerObjects = readSwitch(values, "provider-objects");
  const { protocols, expires, networks, scopes, objects } = values;
  return {
    ...withoutAbsent({
      name: values.name,
      models: values.models?.split(","),
      protocols: protocols === undefined ? undefined : protocols === "all" ? null : readProtocols(protocols),
      expiresAtMs: expires === undefined ? undefined : expires === "never" ? null : readExpiry(expires),
    }),
    ...(values.limit.length === 0 ? {} : { limits: readLimitChanges(values.limit) }),
    ...withoutAbsent({
      networks: networks === undefined ? undefined : networks === "all" ? null : networks.split(","),
      scopes: scopes === undefined ? undefined : scopes === "none" ? [] : scopes.split(","),
      strict,
      capture,
      providerObjects,
      objects: objects === undefined ? undefined : objects === "default" ? null : readSharing(objects),
      billing: values.unpriced === undefined ? undefined : { unpriced: readUnpricedChange(values.unpriced) },
    }),
    ...(values.tag.length === 0 ? {} : { tags: isNone(values.tag) ? [] : values.tag }),
    ...(values.routing.length === 0 ? {} : { routing: readRoutingChanges(values.routing) }),
  };
}
