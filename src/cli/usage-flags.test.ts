import { expect, test } from "bun:test";
import { RECEIPT_FIELDS } from "../server/admin/receipt-filter.ts";
import { showUsage } from "../server/admin/usage.ts";
import type { Command } from "./command.ts";
import { receipts } from "./commands/receipts.ts";
import { usage } from "./commands/usage.ts";

/** What pages of a list are asked by; the commands have `--limit`. */
const OF_PAGES = ["limit", "after"];

const ABOUT = { name: "tested", usage: "", summary: "" };

const flagsOf = ({ help }: Command) =>
  [...help(ABOUT).matchAll(/^ +(?:-\w, )?--([a-z-]+)/gm)].map(([, name = ""]) => name.replaceAll("-", "_"));

test("whatever the Admin API narrows sums and receipts by, the command line does too", () => {
  const ofUsage = Object.keys(showUsage.query ?? {});
  expect(ofUsage.length).toBeGreaterThan(8);
  expect(flagsOf(usage)).toEqual(expect.arrayContaining(ofUsage));
  const ofReceipts = Object.keys(RECEIPT_FIELDS).filter((name) => !OF_PAGES.includes(name));
  expect(flagsOf(receipts)).toEqual(expect.arrayContaining(ofReceipts));
});
