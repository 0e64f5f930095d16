import { describe, expect, test } from "bun:test";
import { MemoryBudget } from "../../relay/request/memory-budget.ts";
import { TurnMemory } from "./turn-memory.ts";

const OWNER = { keyId: "key_1", keyName: "k" };
const turn = (name: string, previous?: string) => ({ input: `["${name}?"]`, output: `["${name}!"]`, previous });

describe("decision 0115: turns that nothing stores", () => {
  test("a chain is found from its end, and what is not remembered comes before it", () => {
    const memory = new TurnMemory(new MemoryBudget(1_000).open(OWNER), () => 1_000);
    memory.remember("b", turn("b", "stored"));
    memory.remember("c", turn("c", "b"));
    const { turns, before } = memory.before("c");
    expect(turns.map(({ input }) => input)).toEqual(['["b?"]', '["c?"]']);
    expect(before).toBe("stored");
    expect(memory.before("stored")).toEqual({ turns: [], before: "stored" });
    expect(memory.before(undefined)).toEqual({ turns: [], before: undefined });
  });

  test("S23: what was used longest ago is forgotten first, and its memory is given back", () => {
    const budget = new MemoryBudget(1_000);
    const memory = new TurnMemory(budget.open(OWNER), () => 24);
    memory.remember("a", turn("a"));
    memory.remember("b", turn("b"));
    expect(memory.before("a").turns).toHaveLength(1);
    memory.remember("c", turn("c"));
    expect(memory.before("b")).toEqual({ turns: [], before: "b" });
    expect(memory.before("a").turns).toHaveLength(1);
    expect(budget.held).toBe(24);
    memory.release();
    expect(budget.held).toBe(0);
  });

  test("S17: a turn is not remembered if the gateway has no memory left", () => {
    const memory = new TurnMemory(new MemoryBudget(5).open(OWNER), () => 1_000);
    memory.remember("a", turn("a"));
    expect(memory.before("a")).toEqual({ turns: [], before: "a" });
  });
});
