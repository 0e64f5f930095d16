import { describe, expect, test } from "bun:test";
import { matches } from "../parts/go-to.tsx";
import { addressOf, GROUPS, groupsFor, isAt, sectionOf } from "./sections.ts";

const pages = GROUPS.flatMap(({ sections }) => sections).flatMap((section) => section.pages);

describe("console-notes 4: pages and sections", () => {
  test("every page belongs to one section", () => {
    for (const { path } of pages) {
      const found = GROUPS.flatMap(({ sections }) => sections).filter((section) =>
        section.pages.some((page) => isAt(path, page.path)),
      );
      expect([path, found.map(({ name }) => name)]).toEqual([path, [sectionOf(GROUPS, path)?.name ?? ""]]);
    }
    expect(new Set(pages.map(({ path }) => path)).size).toBe(pages.length);
  });

  test("the page of one thing belongs to the section of its list", () => {
    expect(sectionOf(GROUPS, "/keys/key_1")?.name).toBe("Keys");
    expect(sectionOf(GROUPS, "/calls/rcp_1")?.name).toBe("Calls");
    expect(sectionOf(GROUPS, "/callsign")).toBeUndefined();
  });

  test("a project operator sees no page of the whole gateway, and no empty group", () => {
    const seen = groupsFor("project");
    expect(
      seen.flatMap(({ sections }) => sections).flatMap((section) => section.pages.map(({ path }) => path)),
    ).toEqual([
      "/bodies",
      "/in-flight",
      "/live",
      "/refused",
      "/usage",
      "/end-users",
      "/keys",
      "/projects",
      "/batches",
      "/files",
      "/caches",
    ]);
    expect(seen.map(({ name }) => name)).toEqual(["Watch", "Run"]);
  });

  test("a page keeps only what it knows of the query", () => {
    const query = new URLSearchParams("q=model:a&range=7d&after=x");
    const address = (path: string) => {
      const page = pages.find((one) => one.path === path);
      return page && addressOf(page, query);
    };
    expect([address("/usage"), address("/keys")]).toEqual(["/usage?q=model%3Aa&range=7d", "/keys"]);
  });
});

describe("console-notes 4: Go to", () => {
  const target = (name: string, words = name) => ({ kind: "page", name, href: `/${name}`, words: words.toLowerCase() });
  const names = (text: string) =>
    matches([target("Usage", "usage cost spend"), target("Keys"), target("Spend key")], text).map(({ name }) => name);

  test("finds by any word, and names that begin with the text come first", () => {
    expect(names("spend")).toEqual(["Spend key", "Usage"]);
    expect(names("key sp")).toEqual(["Spend key"]);
    expect(names("nothing")).toEqual([]);
  });

  test("IDs have every character of base64url", () => {
    const href = (text: string) => matches([], text)[0]?.href;
    expect(href("rcp_0mwk6r4qn-A_x9-")).toBe("/calls/rcp_0mwk6r4qn-A_x9-");
    expect(href("req_0mwk6r4qnZ-3f")).toBe("/calls?q=req_0mwk6r4qnZ-3f&range=30d");
    expect(href("0AF76519-16cd-43dd-8448-eb211c80319c")).toBe("/calls?q=0af7651916cd43dd8448eb211c80319c&range=30d");
  });

  test("the ID of a receipt leads to its page, that of a request or a trace to a search", () => {
    const href = (text: string) => matches([], text)[0]?.href;
    expect(href(" rcp_0mwk6r4qn ")).toBe("/calls/rcp_0mwk6r4qn");
    expect(href("req_0mwk6")).toBe("/calls?q=req_0mwk6&range=30d");
    expect(href("0af7651916cd43dd8448eb211c80319c")).toBe("/calls?q=0af7651916cd43dd8448eb211c80319c&range=30d");
    expect(href("rcp")).toBeUndefined();
  });
});
