import { readConfig } from "../../app/read-config.ts";
import { makeSnapshot } from "../../app/snapshot.ts";
import { system } from "../../base/system.ts";
import { checkPrices, type PriceWarning } from "../../catalogue/check-prices.ts";
import type { Model } from "../../catalogue/model.ts";
import type { Config } from "../../config/config.ts";
import { paintFor } from "../colour.ts";
import { EXIT, printJson } from "../command.ts";
import { configSource } from "../config-source.ts";
import { defineVerb, withVerbs } from "../with-verbs.ts";

const check = defineVerb({
  name: "check",
  usage: "",
  summary:
    "report models without a price, offers that cost more than their model, implausible prices, and gaps in tiers",
  flags: {},
  run: async ({ values }) => {
    const source = configSource(values.config);
    const config = readConfig(source);
    // The simulator's models cost nothing by intention.
    const { catalogue } = makeSnapshot(config, source.environment, system, undefined);
    const warnings = checkPrices(catalogue, (model) => isFree(model, config));
    const models = catalogue.list().length;
    if (values.json) printJson({ ok: warnings.length === 0, models, warnings });
    else tell(warnings, models);
    return warnings.length === 0 ? EXIT.ok : EXIT.failed;
  },
});

/** `pricings: {}` in the file says that a model costs nothing. */
function isFree({ id }: Model, { models }: Config): boolean {
  const configured = models.find((model) => model.id === id);
  if (configured?.pricings === undefined || Object.keys(configured.pricings).length > 0) return false;
  return (configured.offers ?? []).every(({ pricings = {} }) => Object.keys(pricings).length === 0);
}

function tell(warnings: readonly PriceWarning[], models: number): void {
  const { dim, green } = paintFor(process.stdout);
  for (const { kind, message } of warnings) console.log(`${dim(kind.padEnd(14))} ${message}`);
  if (warnings.length === 0) console.log(green(`${models} models: no problems found`));
  else console.log(`${models} models: ${warnings.length} ${warnings.length === 1 ? "warning" : "warnings"}`);
}

export const prices = withVerbs([check], "check");
