import { expect, test } from "bun:test";
import { VirtualClock } from "../../../testing/virtual-clock.ts";
import { NO_UPDATES } from "../../catalogue/updates/apply-updates.ts";
import { watchCatalogue } from "./watch-catalogue.ts";

test("decision 0105: a failure that lasts is logged once, again every five minutes, and its end once", async () => {
  const clock = new VirtualClock();
  const lines: string[] = [];
  let isBroken = true;
  const log = {
    info: (fields: { failures?: number }, text: string) => lines.push(`info ${text} (${fields.failures})`),
    error: (fields: { failures?: number }, text: string) => lines.push(`error ${text} (${fields.failures})`),
  };
  const storage = {
    query: async () => {
      if (isBroken) throw new Error("gone");
      return [{ value: 0 }];
    },
  };
  const state = { catalogue: { ...NO_UPDATES, change: 0 } };
  const stop = watchCatalogue({ gateway: { clock, log }, storage, state } as never);
  await clock.pass(60_000);
  const problem = "error the catalogue could not be updated; the current one stays in force";
  expect(lines).toEqual([`${problem} (1)`]);
  await clock.pass(260_000);
  expect(lines).toEqual([`${problem} (1)`, `${problem} (151)`]);
  isBroken = false;
  await clock.pass(10_000);
  expect(lines.slice(2)).toEqual(["info the catalogue can be updated again (160)"]);
  stop();
});
