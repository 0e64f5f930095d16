import { storedCatalogue } from "../../app/catalogue/stored-catalogue.ts";
import { readConfigInForce } from "../../app/read-config-in-force.ts";
import { makeSnapshot } from "../../app/snapshot.ts";
import { system } from "../../base/system.ts";
import { daysUntil } from "../../catalogue/days.ts";
import { listedModel, paidPricings } from "../../catalogue/listed-model.ts";
import type { Model } from "../../catalogue/model.ts";
import { unknownPrices } from "../../catalogue/price-table.ts";
import { modelEntry } from "../../dialects/chat/model-list.ts";
import { defineCommand, EXIT, printJson, printTable } from "../command.ts";
import { configSource } from "../config-source.ts";

export const models = defineCommand({
  flags: {},
  takes: 1,
  run: async ({ values, positionals: [text = ""] }) => {
    const source = configSource(values.config);
    const config = await readConfigInForce(source);
    const simulator = config.simulator ? { url: "http://127.0.0.1:0", key: "none" } : undefined;
    const { catalogue } = makeSnapshot(
      config,
      source.environment,
      system,
      simulator,
      undefined,
      await storedCatalogue(config),
    );
    const wanted = text.toLowerCase();
    const found = catalogue
      .list()
      .filter(({ id }) => [id, ...catalogue.aliasesOf(id)].some((name) => name.toLowerCase().includes(wanted)));
    const named = found.map((model) => ({ model, aliases: catalogue.aliasesOf(model.id) }));
    if (values.json)
      printJson(
        named.map(({ model, aliases }) => ({
          ...modelEntry(listedModel(model)),
          retires_on: model.retiresOn ?? null,
          retires_after: model.retiresAfter ?? null,
          replaced_by: model.replacedBy ?? null,
          aliases,
        })),
      );
    else printTable(["model", "context", "prompt", "completion", "offers", ""], named.map(row));
    return EXIT.ok;
  },
});

function tellDays(retiresOn: string, replacedBy: string | undefined): string {
  const next = replacedBy === undefined ? "" : `, then ${replacedBy}`;
  return `retires ${retiresOn}, in ${daysUntil(retiresOn, system.clock.wallMs())} days${next}`;
}

function row({ model, aliases }: { model: Model; aliases: readonly string[] }): string[] {
  const pricings = paidPricings(model);
  const unknown = new Set<string>(model.offers.slice(0, 1).flatMap((offer) => unknownPrices(model.kind, offer)));
  const price = (name: "prompt" | "completion") => {
    const [first, ...more] = pricings[name] ?? [];
    if (first === undefined) return unknown.has(name) ? "unknown" : "";
    return first.value === 0 ? "free" : `$${first.value}/M${more.length > 0 ? "+" : ""}`;
  };
  const context = model.contextLength === undefined ? "" : `${Math.round(model.contextLength / 1000)}k`;
  const offers = model.offers.map((offer) => offer.provider).join(",");
  const known = aliases.length === 0 ? [] : [`alias ${aliases.join(", ")}`];
  const retiring = model.retiresOn === undefined ? [] : [tellDays(model.retiresOn, model.replacedBy)];
  return [model.id, context, price("prompt"), price("completion"), offers, [...known, ...retiring].join("; ")];
}
