import { summariseUsage } from "../ledger/queries.ts";
import { USAGE_DIMENSIONS, type UsageDimension, type UsageSum } from "../storage/usage-report.ts";
import { bars } from "./bars.ts";
import { defineCommand, EXIT, printJson, printTable, UsageError } from "./command.ts";
import { aboutCommand } from "./commands.ts";
import { RANGE_FLAGS, readFilter, readRange, readZone } from "./usage-flags.ts";
import { withStorage } from "./with-storage.ts";

const BAR_CELLS = 24;

export const usageReport = defineCommand({
  ...aboutCommand("usage"),
  flags: {
    by: {
      type: "string",
      default: "model",
      value: "GROUP",
      about: `one or two of ${USAGE_DIMENSIONS.join(", ")}, such as day,model`,
    },
    ...RANGE_FLAGS,
  },
  run: async ({ values }) => {
    const by = readDimensions(values.by);
    const zone = readZone(values);
    const range = readRange(values, zone, Date.now());
    const sums = await withStorage(values.config, (storage) =>
      summariseUsage(storage, { ...range, ...readFilter(values, "keyId"), by, zone }),
    );
    if (values.json) printJson(sums.map((sum) => ({ group: sum.groups[0], ...sum })));
    else print(by, sums);
    return EXIT.ok;
  },
});

function readDimensions(words: string): UsageDimension[] {
  const by = words.split(",").map((word) => {
    const found = USAGE_DIMENSIONS.find((dimension) => dimension === word.trim());
    if (!found) throw new UsageError(`--by: "${word}" is not one of ${USAGE_DIMENSIONS.join(", ")}.`);
    return found;
  });
  if (by.length > 2 || new Set(by).size < by.length) throw new UsageError(`--by: "${words}" is not one or two groups.`);
  return by;
}

/** On a terminal each line ends in a bar: of its cost, or of its calls where nothing cost anything. */
function print(by: readonly UsageDimension[], sums: readonly UsageSum[]): void {
  const costs = sums.map(({ costNanoUsd }) => costNanoUsd);
  const lengths = costs.some((cost) => cost > 0) ? costs : sums.map(({ calls }) => calls);
  const drawn = process.stdout.isTTY === true ? bars(lengths, BAR_CELLS) : [];
  printTable(
    [...by, "calls", "failed", "input", "cached", "output", "reasoning", "images", "seconds", "USD"],
    sums.map((sum, index) => [...sum.groups, ...figures(sum), ...drawn.slice(index, index + 1)]),
  );
}

function figures({ calls, failures, usage, costNanoUsd }: UsageSum): string[] {
  return [
    String(calls),
    String(failures),
    String((usage.input ?? 0) + (usage.imageInput ?? 0) + (usage.audioInput ?? 0)),
    String(usage.cacheRead ?? 0),
    String((usage.output ?? 0) + (usage.imageOutput ?? 0) + (usage.audioOutput ?? 0)),
    String(usage.reasoning ?? 0),
    String(usage.images ?? 0),
    String(usage.seconds ?? 0),
    (costNanoUsd / 1e9).toFixed(6),
  ];
}
