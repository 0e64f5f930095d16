import { expect, spyOn, test } from "bun:test";
import { RECEIPT_FIELDS } from "../server/admin/receipts/receipt-filter.ts";
import { showUsage } from "../server/admin/usage.ts";
import type { Command } from "./command.ts";
import { receipts } from "./commands/receipts.ts";
import { usage } from "./commands/usage.ts";

/** For paging, which the commands do themselves. */
const OF_PAGES = ["limit", "after"];
/** For the console: `usage` runs again with other dates. */
const NO_FILTERS = ["compare"];

const ABOUT = { name: "tested", usage: "", summary: "" };

async function flagsOf(command: Command, ...verb: string[]): Promise<string[]> {
  const printed = spyOn(console, "log").mockImplementation(() => {});
  try {
    await command.run([...verb, "--help"], ABOUT);
    const help = printed.mock.calls.flat().join("\n");
    return [...help.matchAll(/^ +(?:-\w, )?--([a-z-]+)/gm)].map(([, name = ""]) => name.replaceAll("-", "_"));
  } finally {
    printed.mockRestore();
  }
}

test("the command line has every filter of the Admin API for usage and receipts", async () => {
  const ofUsage = Object.keys(showUsage.query ?? {}).filter((name) => !NO_FILTERS.includes(name));
  expect(ofUsage.length).toBeGreaterThan(8);
  expect(await flagsOf(usage)).toEqual(expect.arrayContaining(ofUsage));
  const ofReceipts = Object.keys(RECEIPT_FIELDS).filter((name) => !OF_PAGES.includes(name));
  expect(await flagsOf(receipts, "list")).toEqual(expect.arrayContaining(ofReceipts));
});
