import { readCatalogue, removeUpdate } from "../../app/catalogue/catalogue-updates.ts";
import { updateCatalogue } from "../../app/catalogue/update-catalogue.ts";
import { system } from "../../base/system.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { changesOf } from "../../catalogue/updates/changes-of.ts";
import type { Change } from "../../catalogue/updates/plan-update.ts";
import type { UpdateReport, UpdateRequest } from "../../server/admin/admin-catalogue.ts";
import { updateView } from "../../server/admin/catalogue.ts";
import { COMMAND_LINE } from "../actor.ts";
import type { AdminClient } from "../admin-client.ts";
import { atGateway, GATEWAY_FLAGS } from "../at-gateway.ts";
import { EXIT, printJson, printTable, UsageError } from "../command.ts";
import { readPriceList } from "../price-list.ts";
import { readWholeNumber } from "../whole-number.ts";
import { withStorage } from "../with-storage.ts";
import { defineVerb, withVerbs } from "../with-verbs.ts";

const update = defineVerb({
  name: "update",
  usage: "[--from models.dev | litellm | FILE | URL] [--apply]",
  summary: "compare models, prices and limits with a published list; --apply takes them over",
  flags: {
    from: { type: "string", default: "models.dev", value: "LIST", about: "models.dev, litellm, a file or a URL" },
    "as-of": { type: "string", value: "DAY", about: "the day of the list, if the file's own date is wrong" },
    apply: { type: "boolean", default: false, about: "apply the update; running gateways use it within seconds" },
    "dry-run": { type: "boolean", default: false, about: "only show the changes, even with --apply" },
    digest: { type: "string", value: "SHA256", about: "apply only if the update has this digest" },
    confirm: { type: "string", value: "MODEL", multiple: true, about: "accept held-back prices of this model" },
    ...GATEWAY_FLAGS,
  },
  run: async ({ values }) => {
    const found = await readPriceList(values.from, values["as-of"]);
    const isWanted = values.apply && !values["dry-run"];
    const confirmed = new Set(values.confirm ?? []);
    const request: UpdateRequest = { ...found, confirmed, apply: isWanted, digest: values.digest };
    const report = await atGateway(
      values,
      (client) => updateAtGateway(client, request),
      () =>
        withStorage(values.config, (storage) => updateCatalogue(storage, request, system, COMMAND_LINE), {
          mayCreate: true,
        }),
    );
    if (values.json) printJson(report);
    else printReport(report, isWanted);
    return EXIT.ok;
  },
});

/** The list is read here, not by the gateway, which does not fetch what a request names. */
async function updateAtGateway(client: AdminClient, request: UpdateRequest): Promise<UpdateReport> {
  const { source, asOf, list: listed, confirmed, apply, digest } = request;
  const { models, contextIsPrompt, skipped, unread } = listed;
  const body = { source, as_of: asOf, models, confirm: [...confirmed], apply };
  const more = withoutAbsent({ context_is_prompt: contextIsPrompt, digest });
  const report = (await client.change("POST", "/api/catalogue/updates", { ...body, ...more })) as UpdateReport;
  return { ...report, skipped, unread };
}

const list = defineVerb({
  name: "list",
  usage: "",
  summary: "list the updates that were applied",
  flags: GATEWAY_FLAGS,
  run: async ({ values }) => {
    const rows = await atGateway(
      values,
      async (client) => ((await client.read("/api/catalogue/updates")) as UpdateRow[]).toReversed(),
      async () => (await withStorage(values.config, readCatalogue)).updates.map(updateView),
    );
    if (values.json) printJson(rows);
    else {
      const header = ["number", "applied_at", "source", "as_of", "models", "retirements", "digest"] as const;
      const cell = (value: UpdateRow[keyof UpdateRow]) => String(Array.isArray(value) ? value.length : value);
      printTable(
        header,
        rows.map((row) => header.map((column) => cell(row[column]))),
      );
    }
    return EXIT.ok;
  },
});

type UpdateRow = ReturnType<typeof updateView>;

const show = defineVerb({
  name: "show",
  usage: "NUMBER",
  summary: "show what an update has changed",
  flags: GATEWAY_FLAGS,
  takes: 1,
  run: async ({ values, positionals: [given] }) => {
    const number = numberOf(given);
    const shown = await atGateway(
      values,
      async (client) => (await client.read(`/api/catalogue/updates/${number}`)) as ShownUpdate,
      async () => {
        const { updates } = await withStorage(values.config, readCatalogue);
        const update = updates.find((one) => one.number === number);
        if (update === undefined)
          throw new UsageError(`No catalogue update ${number}. \`trivium catalogue list\` shows them.`);
        return { ...updateView(update), ...changesOf(updates, number) };
      },
    );
    if (values.json) printJson(shown);
    else printChanges(shown);
    return EXIT.ok;
  },
});

type ShownUpdate = UpdateRow & ReturnType<typeof changesOf>;

function numberOf(given: string | undefined): number {
  const number = readWholeNumber("NUMBER", given, 1, Number.MAX_SAFE_INTEGER);
  if (number !== undefined) return number;
  throw new UsageError("Name the update by its number; `trivium catalogue list` shows it.");
}

const remove = defineVerb({
  name: "remove",
  usage: "NUMBER",
  summary: "remove an update; the values before it hold again",
  flags: GATEWAY_FLAGS,
  takes: 1,
  run: async ({ values, positionals: [given] }) => {
    const number = numberOf(given);
    await atGateway(
      values,
      (client) => client.change("DELETE", `/api/catalogue/updates/${number}`),
      () => withStorage(values.config, (storage) => removeUpdate(storage, number, system, COMMAND_LINE)),
    );
    if (values.json) printJson({ removed: number });
    else console.log(`Update ${number} is removed.`);
    return EXIT.ok;
  },
});

function printReport(report: UpdateReport, isWanted: boolean): void {
  const { source, as_of, listed, applied } = report;
  console.log(`${source} as of ${as_of}: ${listed} models of known vendors${leftOut(report)}`);
  printChanges(report);
  section(
    "Held back, because the price moves by more than half (accept with --confirm MODEL)",
    CHANGE_HEADER,
    report.held.map(changeRow),
  );
  section(
    "Prices that the catalogue has no name for",
    ["price", "models"],
    Object.entries(report.unread).map(([name, count]) => [name, String(count)]),
  );
  console.log(`\nDigest: ${report.digest}`);
  if (applied !== null) console.log(`Applied as update ${applied}. Running gateways use it within seconds.`);
  else if (report.models === 0) console.log("Nothing to apply.");
  else if (!isWanted) console.log("Nothing was changed. Apply this update with --apply.");
}

function printChanges(report: Pick<UpdateReport, "added" | "changes">): void {
  section(
    "New models",
    ["model", "traits of", ""],
    report.added.map(({ model, family, priced }) => [model, family ?? "-", priced ? "" : "no price"]),
  );
  section("Changed values", CHANGE_HEADER, report.changes.map(changeRow));
}

function leftOut({ skipped }: UpdateReport): string {
  const count = Object.values(skipped).reduce((sum, one) => sum + one, 0);
  return count === 0 ? "" : `; ${count} others left out`;
}

function section(title: string, header: readonly string[], rows: readonly (readonly string[])[]): void {
  if (rows.length === 0) return;
  console.log(`\n${title}: ${rows.length}`);
  printTable(header, rows);
}

const CHANGE_HEADER = ["model", "value", "before", "after"];

const changeRow = ({ model, field, before, after }: Change): string[] => [model, field, shown(before), shown(after)];

/** A price as its figures: `5/10 perMTokens` for two tiers. */
function shown(value: unknown): string {
  if (value === undefined) return "none";
  if (!Array.isArray(value)) return String(value);
  const items = value as { value: number; unit: string }[];
  return `${items.map((item) => item.value).join("/")} ${items[0]?.unit ?? ""}`;
}

export const catalogue = withVerbs([update, list, show, remove]);
