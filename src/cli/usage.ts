import { summariseUsage } from "../ledger/queries.ts";
import type { UsageGroup } from "../storage/usage-sums.ts";
import { defineCommand, EXIT, printJson, printTable, UsageError } from "./command.ts";
import { aboutCommand } from "./commands.ts";
import { withStorage } from "./with-storage.ts";

const GROUPS: readonly UsageGroup[] = ["model", "key", "day", "provider", "project"];
const DAY_MS = 86_400_000;

export const usage = defineCommand({
  ...aboutCommand("usage"),
  flags: {
    by: { type: "string", default: "model", value: "GROUP", about: `one of ${GROUPS.join(", ")}` },
    days: { type: "string", default: "30", value: "N", about: "days to look back" },
    project: { type: "string", value: "P", about: "only this project" },
  },
  run: async ({ values }) => {
    const groupBy = GROUPS.find((group) => group === values.by);
    const days = Number(values.days);
    if (!groupBy) throw new UsageError(`--by: "${values.by}" is not one of ${GROUPS.join(", ")}.`);
    if (!(days > 0)) throw new UsageError(`--days: "${values.days}" is not a number above 0.`);
    const untilMs = Date.now() + 1;
    const sums = await withStorage(values.config, (storage) =>
      summariseUsage(storage, {
        ...(values.project === undefined ? {} : { project: values.project }),
        sinceMs: Math.round(untilMs - days * DAY_MS),
        untilMs,
        groupBy,
      }),
    );
    if (values.json) printJson(sums);
    else {
      printTable(
        [groupBy, "calls", "failed", "input", "cached", "output", "reasoning", "images", "seconds", "USD"],
        sums.map((sum) => [
          sum.group,
          String(sum.calls),
          String(sum.failures),
          String((sum.usage.input ?? 0) + (sum.usage.imageInput ?? 0) + (sum.usage.audioInput ?? 0)),
          String(sum.usage.cacheRead ?? 0),
          String((sum.usage.output ?? 0) + (sum.usage.imageOutput ?? 0) + (sum.usage.audioOutput ?? 0)),
          String(sum.usage.reasoning ?? 0),
          String(sum.usage.images ?? 0),
          String(sum.usage.seconds ?? 0),
          (sum.costNanoUsd / 1e9).toFixed(6),
        ]),
      );
    }
    return EXIT.ok;
  },
});
