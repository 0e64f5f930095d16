import { describe, expect, test } from "bun:test";
import type { Act } from "../api/types.ts";
import { addressOfObject, fieldsChanged, sentenceOf } from "./audit-words.ts";

const ACT: Act = {
  id: "act_1",
  at: "2026-11-18T12:00:00.000Z",
  who: "operator:admin",
  address: null,
  act: "key.update",
  target: "key_1",
  project: null,
  before: null,
  after: null,
};

const nameOf = (id: string): string => ({ key_1: "search", key_2: "maker" })[id] ?? id;

const said = (act: Partial<Act>): string => {
  const { actor, before, object, after } = sentenceOf({ ...ACT, ...act }, nameOf);
  return `${actor} ${before}${object ?? ""}${after}`;
};

describe("a sentence for each act", () => {
  test("names the fields that a change touched, at most three", () => {
    const before = { limits: { requests_per_minute: 1 } };
    expect(said({ before, after: { limits: {} } })).toBe("admin changed the limits of the key search");
    expect(said({ before: { name: "a", tags: ["x"] }, after: { name: "b", tags: [] } })).toBe(
      "admin changed the name and tags of the key search",
    );
    const many = { name: "b", tags: ["y"], capture: true, models: ["sim/*"] };
    expect(said({ before: {}, after: many })).toBe("admin changed the 4 settings of the key search");
    expect(said({})).toBe("admin changed the key search");
  });

  test("says what a change of the status means", () => {
    const act = { act: "project.update", target: "shop" };
    expect(said({ ...act, before: { status: "active" }, after: { status: "suspended" } })).toBe(
      "admin suspended the project shop",
    );
    expect(said({ ...act, before: { status: "suspended" }, after: { status: "active" } })).toBe(
      "admin lifted the suspension of the project shop",
    );
  });

  test("takes the name that the object had at that time, and the names of keys that act", () => {
    expect(said({ act: "key.revoke", before: { name: "old name" }, after: {} })).toBe("admin revoked the key old name");
    expect(said({ act: "key.create", who: "key:key_2", after: { name: "<b>child</b>" } })).toBe(
      "the key maker created the key <b>child</b>",
    );
    expect(said({ act: "session.open", who: "command line (root)" })).toBe("command line (root) logged in");
  });

  test("an act of a later version is shown by its name", () => {
    expect(said({ act: "thing.invented", target: "thing_1" })).toBe("admin thing.invented thing_1");
    expect(addressOfObject({ ...ACT, act: "thing.invented" })).toBeUndefined();
  });

  test("the name of what was revoked is not a change, and a new name is", () => {
    const names = (act: Partial<Act>) => fieldsChanged({ ...ACT, ...act }).map(({ name }) => name);
    expect(names({})).toEqual([]);
    const revoked = { before: { name: "a", revoked_at: null }, after: { revoked_at: "2026-11-18T12:00:00.000Z" } };
    expect(names({ act: "key.revoke", ...revoked })).toEqual(["revoked_at"]);
    expect(names({ before: { name: "a" }, after: { name: "b" } })).toEqual(["name"]);
  });
});
