import { describe, expect, test } from "bun:test";
import { builtInModels } from "../src/catalogue/built-in-models.ts";
import { nameOf } from "../src/catalogue/model.ts";
import { EXAMPLE_MODELS, LIVES_DAYS, RELEASED_ON, SPOKEN_OF } from "./example-models.ts";

const ROOT = new URL("..", import.meta.url).pathname;
const DAY_MS = 86_400_000;
/** Pages that users copy from. Decisions and facts about vendors stay as they were written. */
const PAGES = [
  "README.md",
  "trivium.example.yaml",
  ...new Bun.Glob("{docs,deploy}/**/*.{md,yaml,yml,json,toml}").scanSync(ROOT),
]
  .filter((file) => !/^docs\/(decisions|reference|images)\//.test(file))
  .sort();

const BY_NAME = new Map(
  builtInModels.flatMap((model) => [model.upstreamModel, nameOf(model.id)].map((name) => [name, model])),
);
const NAMES = [...BY_NAME.keys()].map((name) => ({
  name,
  pattern: new RegExp(`(?<![\\w.-])${RegExp.escape(name)}(?![\\w.]|-[a-z0-9])`),
}));

async function namesIn(file: string): Promise<string[]> {
  const text = await Bun.file(`${ROOT}${file}`).text();
  return NAMES.filter(({ pattern }) => pattern.test(text)).map(({ name }) => name);
}

const isSpokenOf = (file: string, model: string): boolean =>
  SPOKEN_OF.some((one) => one.file === file && one.model === model);

describe("H63: examples that do not age", () => {
  test("no model of the table retires within 90 days of the release", () => {
    const untilMs = Date.parse(RELEASED_ON) + LIVES_DAYS * DAY_MS;
    const ending = [...EXAMPLE_MODELS].flatMap((name) => {
      const { retiresOn } = BY_NAME.get(name) ?? { retiresOn: "no model of the catalogue" };
      return retiresOn === undefined || Date.parse(retiresOn) > untilMs ? [] : [`${name}: ${retiresOn}`];
    });
    expect(ending).toEqual([]);
  });

  test("pages name the models of the table and no others, and each of the table", async () => {
    expect(PAGES.length).toBeGreaterThan(60);
    const found = new Set<string>();
    const others: string[] = [];
    for (const file of PAGES)
      for (const name of await namesIn(file)) {
        found.add(name);
        if (!EXAMPLE_MODELS.has(name) && !isSpokenOf(file, name)) others.push(`${file}: ${name}`);
      }
    expect(others).toEqual([]);
    expect([...EXAMPLE_MODELS].filter((name) => !found.has(name))).toEqual([]);
  });
});
