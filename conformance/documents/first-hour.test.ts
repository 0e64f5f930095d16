import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { Page } from "../../scripts/markdown-page.ts";
import { startTestGateway } from "../support/test-gateway.ts";
import { ANSWER, testPage } from "./test-page.ts";

const readme = new Page("README.md");

testPage("README.md", {
  expected: {
    "bin/trivium chat": (output) => {
      const shown = readme.one("text").trim().replace(/ …$/, "");
      expect(shown).toMatch(ANSWER);
      expect(output).toStartWith(shown);
    },
    text: ANSWER,
    "client.chat.completions": ANSWER,
    "client.responses": ANSWER,
    "client.messages": ANSWER,
    "client.models": ANSWER,
    '"Hello, who are you?"}': ANSWER,
    "keys create": (output) => {
      expect(output).toMatch(/^sk-trv-[\w-]{43}$/m);
      expect(output).toMatch(/ci +default .*requests_per_minute=60.*budget_usd_per_day=5/);
    },
    "/generation?id=": /"usage_source": ?"measured"/,
    "bin/trivium image": async (output, reader) => {
      expect(output).toBe("owl.png\nowl.mp4\n");
      const { width, height } = await new Bun.Image(reader.read("owl.png")).metadata();
      expect([width, height]).toEqual([1536, 1024]);
      expect(reader.read("owl.mp4").toString("latin1", 4, 8)).toBe("ftyp");
    },
  },
});

testPage("docs/getting-started.md", {
  expected: { curl: ANSWER, "keys create": /^sk-trv-[\w-]{43}$/m },
});

describe("README.md", () => {
  test("it can be read in ten minutes", () => {
    expect(readme.text.split(/\s+/).length).toBeLessThanOrEqual(1_100);
  });

  test("its npm commands are scripts of package.json", () => {
    const { scripts } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
      scripts: object;
    };
    const named = [...readme.text.matchAll(/npm (?:run )?(start|test|bench)\b/g)].map(([, name]) => name ?? "");
    expect([...new Set(named)].sort()).toEqual(["bench", "start", "test"]);
    for (const name of named) expect(scripts).toHaveProperty(name);
  });

  test("its table of providers has their variables and models", async () => {
    const rows = readme.rowsUnder("provider", "variable", "a model").filter(([, variable]) => variable !== "");
    const environment = Object.fromEntries(rows.map(([, variable = ""]) => [variable, "a-key"]));
    const gateway = await startTestGateway({ environment });
    const listed = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${gateway.key}` } });
    const ids = ((await listed.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
    await gateway.stop();
    expect(rows.length).toBe(3);
    for (const [, , model = ""] of rows) expect(ids).toContain(model);
  });
});
