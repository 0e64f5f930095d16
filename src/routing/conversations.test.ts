import { describe, expect, test } from "bun:test";
import { Conversations, MAX_CONVERSATIONS } from "./conversations.ts";

describe("the target that holds the prompt cache of a conversation", () => {
  test("the target that answered it last, until its cache is likely to be gone", () => {
    const conversations = new Conversations();
    expect(conversations.find(1n, 0)).toBeUndefined();
    conversations.remember(1n, "a", 1_000);
    conversations.remember(2n, "b", 1_000);
    expect([conversations.find(1n, 601_000), conversations.find(1n, 601_001)]).toEqual(["a", undefined]);
    conversations.remember(1n, "c", 500_000);
    expect([conversations.find(1n, 1_100_000), conversations.find(2n, 601_000)]).toEqual(["c", "b"]);
  });

  test("H20: bounded; the least recently used is dropped first", () => {
    const conversations = new Conversations();
    for (let key = 0; key < MAX_CONVERSATIONS; key++) conversations.remember(key, "a", 0);
    conversations.remember(0, "a", 1);
    expect(conversations.size).toBe(MAX_CONVERSATIONS);
    conversations.remember(-1, "a", 2);
    expect(conversations.size).toBe(MAX_CONVERSATIONS);
    expect([conversations.find(0, 3), conversations.find(1, 3), conversations.find(-1, 3)]).toEqual([
      "a",
      undefined,
      "a",
    ]);
  });
});
