import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { readConfig } from "../src/app/read-config.ts";
import { COMMANDS } from "../src/cli/commands.ts";
import { DIALECTS } from "../src/dialects/index.ts";
import { PROVIDER_KINDS } from "../src/providers/index.ts";
import { ADMIN_ROUTES } from "../src/server/admin/routes.ts";
import { Page } from "./markdown-page.ts";

const root = new URL("..", import.meta.url).pathname;
const read = (file: string) => readFileSync(join(root, file), "utf8");
const WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];

/** What people read who run the gateway or call it. */
const pages = [
  "README.md",
  ...new Glob("docs/*.md").scanSync(root),
  "docs/reference/api.md",
  ...new Glob("docs/clients/*.md").scanSync(root),
  ...new Glob("docs/recipes/*.md").scanSync(root),
]
  .filter((file) => !/^docs\/(?:adding|architecture|benchmarks|console-design|drift|mapping|simulation)/.test(file))
  .map((file) => new Page(file));

describe("numbers that documents state are the program's", () => {
  test("protocols", () => {
    const count = WORDS[Object.keys(DIALECTS).length];
    for (const file of [
      "README.md",
      "package.json",
      "docs/reference/api.md",
      "src/cli/run-command.ts",
      "src/server/openapi.ts",
    ])
      expect([file, read(file)]).toEqual([file, expect.stringContaining(`${count} wire protocols`)]);
    const counted = pages.flatMap(({ file, prose }) =>
      [...prose.matchAll(/\b(two|three|four|five|six|seven|\d+) (?:wire )?protocols\b/g)].map(([words]) => [
        file,
        words,
      ]),
    );
    for (const [file, words = ""] of counted) expect([file, words.split(" ")[0]]).toEqual([file, count]);
  });

  test("kinds of providers", () => {
    const vendors = [...PROVIDER_KINDS.keys()].filter((kind) => kind !== "simulator" && kind !== "openai-compatible");
    const [, named = "", more] =
      /\[([^\]]+?) and (\d+) more\]\(docs\/providers\.md#kinds\)/.exec(read("README.md")) ?? [];
    const rows = new Page("README.md").rowsUnder("provider", "variable", "a model").filter(([, name]) => name !== "");
    expect(rows.length + named.split(", ").length + Number(more)).toBe(vendors.length);
  });

  test("alert rules", () => {
    const { groups } = Bun.YAML.parse(read("deploy/prometheus/trivium.rules.yaml")) as {
      groups: { rules: object[] }[];
    };
    const count = groups.flatMap(({ rules }) => rules).length;
    expect(read("docs/telemetry.md")).toContain(`has ${count} alert rules`);
  });

  test("endpoints of the Admin API, with their roles", () => {
    const shown = new Page("docs/admin.md").rowsUnder("endpoint", "roles", "what it does");
    const declared = ADMIN_ROUTES.map(({ method, path, roles }) => [
      `${method} ${path}`,
      roles === "open" ? "open" : roles.join(", "),
    ]);
    expect(shown.map(([endpoint, roles]) => [endpoint, roles]).toSorted()).toEqual(declared.toSorted());
  });

  /** They depend on other fields, or are read where they are used. */
  const READ_ELSEWHERE = /\[\]|^(?:telemetry|routing\.fallback|admin\.oidc)\b/;

  test("a configuration that sets every default to what docs/configuration.md says is one that sets nothing", () => {
    const rows = new Page("docs/configuration.md").rowsUnder("field", "type", "default");
    const literal = rows.filter(
      ([field = "", , value = ""]) =>
        !READ_ELSEWHERE.test(field) && /^(?:[\d.]+|true|false|auto|info|all|\[.*\])$/.test(value),
    );
    expect(literal.length).toBeGreaterThan(45);
    const sections: Record<string, object> = {};
    for (const [field = "", , value] of literal) {
      const names = field.split(".");
      const last = names.pop() ?? "";
      let section: Record<string, unknown> = sections;
      for (const name of names) {
        section[name] ??= {};
        section = section[name] as Record<string, unknown>;
      }
      section[last] = Bun.YAML.parse(value ?? "");
    }
    const settings = (text: string) => {
      return { ...readConfig({ cwd: root, environment: {}, text }), written: {}, fields: [] };
    };
    expect(settings(JSON.stringify(sections))).toEqual(settings("{}"));
  });
});

describe("pages for users", () => {
  const names = COMMANDS.map(({ name }) => name).join("|");

  test("the program has one name in all of them", () => {
    for (const { file, text } of pages) {
      const bare = [...text.matchAll(new RegExp(`(?:^|[\`|(]\\s*)trivium (?:${names})\\b.*`, "gm"))];
      expect([file, ...bare.map(([line]) => line)]).toEqual([file]);
    }
  });

  test("the blocks of each are run, and excerpts give a reason", () => {
    const tests = [...new Glob("conformance/documents/*.test.ts").scanSync(root)].map(read).join("\n");
    for (const { file, blocks } of pages) {
      if (blocks.length === 0 || file === "docs/reference/api.md") continue;
      const isTested = tests.includes(`testPage("${file}"`) || file.startsWith("docs/clients/");
      expect([file, isTested]).toEqual([file, true]);
      for (const { note } of blocks.filter((block) => block.note.startsWith("excerpt")))
        expect(note).toMatch(/^excerpt: \w+( [\w/]+){1,6}$/);
    }
  });
});
