import { arrayAt, isObject, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { ADMIN_FLAGS, connectAdmin } from "../admin-client.ts";
import { LIST_FLAGS } from "../admin-list.ts";
import { EXIT, printJson, printTable, UsageError } from "../command.ts";
import { readWholeNumber } from "../whole-number.ts";
import { defineVerb, withVerbs } from "../with-verbs.ts";

const MOST = 100_000;

const list = defineVerb({
  name: "list",
  usage: "[--limit N]",
  summary: "list alerts and their delivery status, newest first",
  flags: LIST_FLAGS,
  run: async ({ values }) => {
    const most = readWholeNumber("--limit", values.limit, 1, MOST) ?? 1;
    const found = await (await connectAdmin(values)).list("/api/alerts", {}, most);
    if (values.json) printJson(found);
    else
      printTable(
        ["at", "type", "delivered", "text"],
        found.map((alert) => [
          stringAt(alert, "at") ?? "",
          stringAt(alert, "type") ?? "",
          arrayAt(alert, "deliveries").map(stateOf).join(", ") || "-",
          stringAt(alert, "text") ?? "",
        ]),
      );
    return EXIT.ok;
  },
});

const test = defineVerb({
  name: "test",
  usage: "[WEBHOOK]",
  summary: "send a test alert to one webhook, or to all of them, and show the responses",
  flags: ADMIN_FLAGS,
  takes: 1,
  run: async ({ values, positionals: [webhook] }) => {
    const client = await connectAdmin(values);
    const tested = await client.change("POST", "/api/alerts/test", withoutAbsent({ webhook }));
    const all = Array.isArray(tested) ? tested.filter(isObject) : [];
    if (values.json) printJson(tested);
    else
      for (const one of all) {
        const said = one["ok"] === true ? `status ${Number(one["status"])}` : stringAt(one, "error");
        const answer = stringAt(one, "answer") ?? "";
        const state = one["ok"] === true ? "ok" : "failed";
        console.log(
          `${state.padEnd(7)} ${stringAt(one, "webhook")} in ${Number(one["ms"])} ms: ${said}${answer && `: ${answer}`}`,
        );
      }
    return all.every(({ ok }) => ok === true) ? EXIT.ok : EXIT.failed;
  },
});

const deliver = defineVerb({
  name: "deliver",
  usage: "ID [WEBHOOK]",
  summary: "redeliver an alert to one webhook, or to all that have not accepted it",
  flags: ADMIN_FLAGS,
  takes: 2,
  run: async ({ values, positionals: [id, webhook] }) => {
    if (!id) throw new UsageError("Missing alert id. Run `trivium alerts list --json` to find it.");
    const client = await connectAdmin(values);
    const path = `/api/alerts/${encodeURIComponent(id)}/deliver`;
    const sent = await client.change("POST", path, withoutAbsent({ webhook }));
    if (values.json) printJson(sent);
    else console.log(`Redelivering ${id}: ${arrayAt(sent, "deliveries").map(stateOf).join(", ")}.`);
    return EXIT.ok;
  },
});

const stateOf = (delivery: unknown): string => `${stringAt(delivery, "webhook")} ${stringAt(delivery, "state")}`;

export const alerts = withVerbs([list, test, deliver]);
