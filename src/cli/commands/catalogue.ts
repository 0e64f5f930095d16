import { readCatalogue, removeUpdate, storeUpdate } from "../../app/catalogue-updates.ts";
import { system } from "../../base/system.ts";
import { type Change, planUpdate, type UpdatePlan } from "../../catalogue/updates/plan-update.ts";
import type { SourceList } from "../../catalogue/updates/source-list.ts";
import { COMMAND_LINE } from "../actor.ts";
import { EXIT, printJson, printTable, UsageError } from "../command.ts";
import { type PriceList, readPriceList } from "../price-list.ts";
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
  },
  run: async ({ values }) => {
    const found = await readPriceList(values.from, values["as-of"]);
    const confirmed = new Set(values.confirm ?? []);
    const isWanted = values.apply && !values["dry-run"];
    return withStorage(
      values.config,
      async (storage) => {
        const { entries, change } = await readCatalogue(storage);
        const plan = planUpdate(entries, found.source, found.list, confirmed);
        const unheld = [...confirmed].filter((model) => !entries.has(model));
        if (unheld.length > 0) throw new UsageError(`--confirm: there is no model ${unheld.join(", ")}.`);
        if (values.digest !== undefined && values.digest !== plan.digest) {
          throw new UsageError(`The update has the digest ${plan.digest}, not ${values.digest}. Nothing was changed.`);
        }
        const { source, asOf } = found;
        const { digest, patches: models } = plan;
        const isApplied = isWanted && models.length > 0;
        const number = isApplied
          ? await storeUpdate(storage, { change, source, asOf, digest, models }, system, COMMAND_LINE)
          : undefined;
        if (values.json) printJson(report(found, plan, number));
        else printPlan(found, plan, number, isWanted);
        return EXIT.ok;
      },
      { mayCreate: true },
    );
  },
});

const list = defineVerb({
  name: "list",
  usage: "",
  summary: "list the updates that were applied",
  flags: {},
  run: async ({ values }) => {
    const { updates } = await withStorage(values.config, readCatalogue);
    const rows = updates.map(({ number, appliedAtMs, source, asOf, digest, models }) => ({
      number,
      applied_at: new Date(appliedAtMs).toISOString(),
      source,
      as_of: asOf,
      digest,
      models: models.length,
    }));
    if (values.json) printJson(rows);
    else {
      const header = ["number", "applied_at", "source", "as_of", "models", "digest"] as const;
      printTable(
        header,
        rows.map((row) => header.map((column) => String(row[column]))),
      );
    }
    return EXIT.ok;
  },
});

const remove = defineVerb({
  name: "remove",
  usage: "NUMBER",
  summary: "remove an update; the values before it hold again",
  flags: {},
  takes: 1,
  run: async ({ values, positionals: [given] }) => {
    const number = readWholeNumber("NUMBER", given, 1, Number.MAX_SAFE_INTEGER);
    if (number === undefined) throw new UsageError("Name the update by its number; `trivium catalogue list` shows it.");
    await withStorage(values.config, (storage) => removeUpdate(storage, number, system, COMMAND_LINE));
    if (values.json) printJson({ removed: number });
    else console.log(`Update ${number} is removed.`);
    return EXIT.ok;
  },
});

const report = ({ source, asOf, list: found }: PriceList, plan: UpdatePlan, applied: number | undefined) => ({
  source,
  as_of: asOf,
  listed: found.models.length,
  skipped: found.skipped,
  unread: found.unread,
  added: plan.added,
  changes: plan.changes,
  held: plan.held,
  digest: plan.digest,
  applied: applied ?? null,
});

function printPlan(found: PriceList, plan: UpdatePlan, applied: number | undefined, isWanted: boolean): void {
  const { source, asOf, list: listed } = found;
  console.log(`${source} as of ${asOf}: ${listed.models.length} models of known vendors${leftOut(listed)}`);
  section(
    "New models",
    ["model", "traits of", ""],
    plan.added.map(({ model, family, priced }) => [model, family ?? "-", priced ? "" : "no price"]),
  );
  section("Changed values", CHANGE_HEADER, plan.changes.map(changeRow));
  section(
    "Held back, because the price moves by more than half (accept with --confirm MODEL)",
    CHANGE_HEADER,
    plan.held.map(changeRow),
  );
  section(
    "Prices that the catalogue has no name for",
    ["price", "models"],
    Object.entries(listed.unread).map(([name, count]) => [name, String(count)]),
  );
  console.log(`\nDigest: ${plan.digest}`);
  if (applied !== undefined) console.log(`Applied as update ${applied}. Running gateways use it within seconds.`);
  else if (plan.patches.length === 0) console.log("Nothing to apply.");
  else if (!isWanted) console.log("Nothing was changed. Apply this update with --apply.");
}

function leftOut({ skipped }: SourceList): string {
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

export const catalogue = withVerbs([update, list, remove]);
