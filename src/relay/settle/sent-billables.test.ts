import { describe, expect, test } from "bun:test";
import type { Billable } from "../../canon/billable.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { sentBillables } from "./sent-billables.ts";

const tool = (name: string, path: string): Billable => ({ kind: "tool", name, path });
const note = (path: string, action: FieldNote["action"] = "dropped"): FieldNote => ({ path, action, reason: "" });
const sent = (billables: readonly Billable[], ...notes: FieldNote[]) =>
  sentBillables({ billables, attempt: { target: undefined, notes } }).map(({ name }) => name);

describe("decision 0083: a bill names only what the host was sent", () => {
  const tools = [tool("search", "tools[1]"), tool("fetch", "tools[10]"), tool("draw", "tools[1].inner.kind")];

  test.each([
    ["nothing was dropped", [], ["search", "fetch", "draw"]],
    ["the field itself was dropped", [note("tools[10]")], ["search", "draw"]],
    ["what holds it was dropped", [note("tools[1]")], ["fetch"]],
    ["all of the list was dropped", [note("tools")], []],
    ["something in it was dropped", [note("tools[1].inner.kind.more")], ["search", "fetch", "draw"]],
    ["a field of a longer name was dropped", [note("tools[1].inner.kinds")], ["search", "fetch", "draw"]],
    ["a field of a shorter name was dropped", [note("tool")], ["search", "fetch", "draw"]],
    ["it was changed, and sent", [note("tools[1]", "approximated")], ["search", "fetch", "draw"]],
  ] as const)("%s", (_, notes, names) => {
    expect(sent(tools, ...notes)).toEqual([...names]);
  });

  test("without an attempt, everything requested counts", () => {
    expect(sentBillables({ billables: tools, attempt: undefined })).toBe(tools);
  });
});
