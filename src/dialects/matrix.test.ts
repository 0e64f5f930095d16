import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type SampleRequest, sampleRequests } from "../../testing/sample-requests.ts";
import {
  CAPABLE_TARGETS,
  checkedRequest,
  EVERY_TARGET,
  REASONING_TARGETS,
  type Target,
  translate,
  wireText,
} from "../../testing/translate-sample.ts";
import { DIALECT_NAMES } from "../canon/dialect-name.ts";
import { layOutJson } from "./lay-out-json.sample.ts";

/**
 * One request for each feature and dialect, and what a usual target of every dialect receives for it. UPDATE_GOLDEN=1 rewrites
 * the expected files: review the difference.
 */
const EXPECTED = new URL("../../fixtures/matrix/expected/", import.meta.url);
const UPDATE = process.env["UPDATE_GOLDEN"] === "1";

const samples = sampleRequests("matrix");
const targetsOf = ({ name }: SampleRequest): readonly Target[] =>
  name.startsWith("thinking")
    ? [...EVERY_TARGET, ...REASONING_TARGETS]
    : name.startsWith("by-host")
      ? [...EVERY_TARGET, ...CAPABLE_TARGETS]
      : EVERY_TARGET;
const fileOf = ({ dialect, name }: SampleRequest, target: Target) => `${dialect}/${name}.${target.name}.json`;

if (UPDATE)
  for (const dialect of DIALECT_NAMES) {
    rmSync(new URL(`${dialect}/`, EXPECTED), { recursive: true, force: true });
    mkdirSync(new URL(`${dialect}/`, EXPECTED), { recursive: true });
  }

const cases = samples.flatMap((sample) => targetsOf(sample).map((target) => ({ sample, target })));

describe("golden matrix: every feature of every dialect at every target", () => {
  test.each(cases.map((each) => [fileOf(each.sample, each.target), each] as const))(
    "%s",
    async (file, { sample, target }) => {
      const request = checkedRequest(sample.dialect, sample.text, "dropin");
      const { body, notes, reading } = await translate(sample.dialect, request, target);
      const written = `${layOutJson(wireText({ body, notes, reading }))}\n`;
      if (UPDATE) writeFileSync(new URL(file, EXPECTED), written);
      expect(written).toBe(readFileSync(new URL(file, EXPECTED), "utf8"));
    },
  );

  test("every expected file belongs to a feature", () => {
    const wanted = new Set(cases.map(({ sample, target }) => fileOf(sample, target)));
    const found = DIALECT_NAMES.flatMap((dialect) => {
      const folder = new URL(`${dialect}/`, EXPECTED);
      return existsSync(folder) ? readdirSync(folder).map((file) => `${dialect}/${file}`) : [];
    });
    expect(found.filter((file) => !wanted.has(file))).toEqual([]);
  });
});
