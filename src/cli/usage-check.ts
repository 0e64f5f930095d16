import { checkRollUps } from "../ledger/check-roll-ups.ts";
import { defineCommand, EXIT, printJson } from "./command.ts";
import { withStorage } from "./with-storage.ts";

export const checkUsage = defineCommand({
  name: "usage check",
  usage: "",
  summary: "compare the sums by hour and day with the receipts themselves",
  flags: {},
  run: async ({ values }) => {
    const { days, differences } = await withStorage(values.config, (storage) => checkRollUps(storage));
    if (values.json) printJson({ days, differences });
    else if (differences.length === 0) console.log(`${days} days: all sums are those of their receipts.`);
    for (const { where, group, here, there } of values.json ? [] : differences) {
      console.log(`${where}: ${group}: ${here ?? "nothing"} beside ${there ?? "nothing"}`);
    }
    return differences.length === 0 ? EXIT.ok : EXIT.failed;
  },
});
