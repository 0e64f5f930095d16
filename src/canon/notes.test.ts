import { expect, test } from "bun:test";
import { cpuMs } from "../base/cpu-time.sample.ts";
import { boundNotes, Notes } from "./notes.ts";

test("a note is recorded once, and another reason for the same field is another note", () => {
  const notes = new Notes();
  for (const reason of ["one", "two", "one"]) notes.dropped("a", reason);
  notes.approximated("b", "one");
  expect(notes.list.map(({ path, action, reason }) => `${path} ${action} ${reason}`)).toEqual([
    "a dropped one",
    "a dropped two",
    "b approximated one",
  ]);
});

test("H20, H21: notes on a hundred thousand fields are collected quickly", () => {
  const notes = new Notes();
  const startedMs = cpuMs();
  for (let count = 0; count < 100_000; count++) notes.dropped(`f${count}`, "unknown");
  expect(notes.list).toHaveLength(100_000);
  expect(cpuMs() - startedMs).toBeLessThan(3_000);
});

test("H09, H20: a receipt keeps a few hundred notes and counts the rest", () => {
  const notes = new Notes();
  for (let count = 0; count < 100_000; count++) notes.approximated(`f${count}`, "unknown");
  const kept = boundNotes(notes.list);
  expect(kept).toHaveLength(301);
  expect(kept[299]).toEqual({ path: "f299", action: "approximated", reason: "unknown" });
  expect(kept[300]).toEqual({ path: "*", action: "dropped", reason: "99700 more fields were dropped or approximated" });
  expect(boundNotes(notes.list.slice(0, 300))).toEqual(notes.list.slice(0, 300));
});

test("H20: long field names and reasons are truncated in a receipt", () => {
  const [kept] = boundNotes([{ path: "p".repeat(1_000_000), action: "dropped", reason: "r".repeat(1_000_000) }]);
  expect(JSON.stringify(kept).length).toBeLessThan(1_200);
});
