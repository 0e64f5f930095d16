import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { Glob } from "bun";

const root = new URL("..", import.meta.url).pathname;
const config = readFileSync(`${root}site/.vitepress/config.ts`, "utf8");
const linked = [...config.matchAll(/page\("[^"]+", "([^"]+)"\)/g)].map(([, name = ""]) => name);
const built = `${root}dist/site`;

describe("the documentation as a site", () => {
  test("its sidebar is the map in docs/README.md, with every page of docs and of docs/reference", () => {
    const map = readFileSync(`${root}docs/README.md`, "utf8");
    const mapped = [...map.matchAll(/\]\(([^)]+)\)/g)].map(([, link = ""]) =>
      link === "decisions" ? "decisions/" : link.replace(/(?:README)?\.md$/, ""),
    );
    expect(linked).toEqual(mapped);
    const pages = [...new Glob("{*,reference/*}.md").scanSync(`${root}docs`)].map((file) =>
      file.slice(0, -".md".length),
    );
    expect(pages.filter((name) => name !== "README" && !linked.includes(name))).toEqual([]);
  });

  const isBuilt = existsSync(`${built}/index.html`);
  // `npm test` does not build it, in CI either.
  if (!isBuilt) console.log("skipped: the site is not looked at: `npm run docs` has not built it");

  test.skipIf(!isBuilt)("built, every page is there, with a search that asks no other host for anything", () => {
    const pages = [...new Glob("**/*.html").scanSync(built)];
    expect(pages.length).toBeGreaterThan(linked.length);
    for (const page of pages) {
      const html = readFileSync(`${built}/${page}`, "utf8");
      const loaded = [...html.matchAll(/<(?:script|link|img)\b[^>]*\b(?:src|href)="([^"]+)"/g)].map(
        ([, url = ""]) => url,
      );
      expect([page, loaded.filter((url) => /^(https?:)?\/\//.test(url))]).toEqual([page, []]);
    }
    expect([...new Glob("assets/chunks/*localSearchIndex*").scanSync(built)]).toHaveLength(1);
  });
});
