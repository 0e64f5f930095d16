import { ADMIN_FLAGS, connectAdmin } from "../admin-client.ts";
import { defineCommand, EXIT, printJson, printTable } from "../command.ts";

interface Refusals {
  data: { groups: string[]; requests: number }[];
}

export const refusals = defineCommand({
  flags: {
    by: {
      type: "string",
      default: "reason,key",
      value: "LIST",
      about: "group by one or two of reason, key, project, address_class, address, minute, hour, day",
    },
    reason: { type: "string", value: "KIND", about: "only this error kind, such as unauthenticated" },
    key: { type: "string", value: "ID", about: 'only requests with this key; "none" for requests without a known key' },
    project: { type: "string", value: "P", about: "only requests with keys of this project" },
    address: { type: "string", value: "IP", about: "only requests from this address" },
    from: { type: "string", value: "DATE", about: "start of the range (default: 24 hours ago)" },
    to: { type: "string", value: "DATE", about: "end of the range, exclusive (default: now)" },
    ...ADMIN_FLAGS,
  },
  run: async ({ values }) => {
    const { by, reason, key, project, address, from, to } = values;
    const query = { by, reason, key, project, address, from, to };
    const found = (await (await connectAdmin(values)).readAll("/api/refusals", query)) as unknown as Refusals;
    if (values.json) printJson(found);
    else
      printTable(
        [...by.split(","), "requests"],
        found.data.map(({ groups, requests }) => [...groups, String(requests)]),
      );
    return EXIT.ok;
  },
});
