import { namedRetirements, tellRetirement } from "../../app/catalogue/named-retirements.ts";
import { storedCatalogue } from "../../app/catalogue/stored-catalogue.ts";
import { readConfigInForce } from "../../app/read-config-in-force.ts";
import { makeSnapshot } from "../../app/snapshot.ts";
import { system } from "../../base/system.ts";
import { checkPrices, type PriceWarning } from "../../catalogue/check-prices.ts";
import { type PriceAge, priceAges } from "../../catalogue/price-ages.ts";
import { paintFor } from "../colour.ts";
import { EXIT, printJson, printTable } from "../command.ts";
import { configSource } from "../config-source.ts";
import { defineVerb, withVerbs } from "../with-verbs.ts";

const check = defineVerb({
  name: "check",
  usage: "",
  summary: "show how old prices are, and warn of missing, unlikely and inconsistent ones",
  flags: { all: { type: "boolean", default: false, about: "show the age of each price, not only of each list" } },
  run: async ({ values }) => {
    const source = configSource(values.config);
    const config = await readConfigInForce(source);
    const base = await storedCatalogue(config);
    const { catalogue } = makeSnapshot(config, source.environment, system, undefined, undefined, base);
    const warnings = checkPrices(catalogue);
    const models = catalogue.list().length;
    const overlays = new Map(config.models.map((model) => [model.id, model]));
    const ages = priceAges(catalogue, overlays, system.clock.wallMs());
    const retirements = namedRetirements(config, catalogue, system.clock.wallMs());
    if (values.json) printJson({ ok: warnings.length === 0, models, warnings, retirements, prices: ages });
    else {
      printAges(ages, values.all);
      for (const model of retirements) console.error(tellRetirement(model));
      tell(warnings, models);
    }
    return warnings.length === 0 ? EXIT.ok : EXIT.failed;
  },
});

function tell(warnings: readonly PriceWarning[], models: number): void {
  const { dim, green } = paintFor(process.stdout);
  for (const { kind, message } of warnings) console.log(`${dim(kind.padEnd(14))} ${message}`);
  if (warnings.length === 0) console.log(green(`${models} models: no problems found`));
  else console.log(`${models} models: ${warnings.length} ${warnings.length === 1 ? "warning" : "warnings"}`);
}

/** How old each price is; without `isEach`, one line for each list that prices come from. */
function printAges(ages: readonly PriceAge[], isEach: boolean): void {
  if (isEach) {
    const rows = ages.map(({ model, provider, price, origin, source, as_of, days }) => [
      model,
      provider,
      price,
      source ?? origin,
      as_of ?? "-",
      days === null ? "-" : `${days} days`,
    ]);
    printTable(["model", "provider", "price", "source", "as of", "age"], rows);
    return;
  }
  const lists = Map.groupBy(ages, ({ origin, source, as_of }) => `${source ?? origin}\n${as_of ?? ""}`);
  for (const [first, ...others] of lists.values()) {
    if (first === undefined) continue;
    const { origin, source, as_of, days } = first;
    const age = days === null ? "" : ` as of ${as_of}, ${days} days old`;
    console.log(`${others.length + 1} prices from ${source ?? `the ${origin}`}${age}`);
  }
}

export const prices = withVerbs([check], "check");
