import { expect, test } from "bun:test";
import { EndOfTurn } from "./end-of-turn.ts";

test("callbacks of one turn run together in the next, and those that they add in the one after", () => {
  const turns: (() => void)[] = [];
  const endOfTurn = new EndOfTurn({ soon: (run) => void turns.push(run) });
  const ran: string[] = [];
  endOfTurn.add(() => {
    ran.push("first");
    endOfTurn.add(() => ran.push("added"));
  });
  endOfTurn.add(() => ran.push("second"));
  expect([turns.length, ran]).toEqual([1, []]);
  turns[0]?.();
  expect([turns.length, ran]).toEqual([2, ["first", "second"]]);
  turns[1]?.();
  expect(ran).toEqual(["first", "second", "added"]);
});
