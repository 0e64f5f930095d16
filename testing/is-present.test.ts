import { afterEach, expect, spyOn, test } from "bun:test";
import { Glob } from "bun";
import { findService, isOptional, isPresent } from "./is-present.ts";

const before = { CI: process.env["CI"], TRIVIUM_TEST_SERVICES: process.env["TRIVIUM_TEST_SERVICES"] };
afterEach(() => {
  for (const [name, value] of Object.entries(before)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

test("a missing service is printed with its reason; a run with services fails without it under CI", () => {
  delete process.env["TRIVIUM_TEST_SERVICES"];
  const log = spyOn(console, "log").mockImplementation(() => {});
  try {
    delete process.env["CI"];
    expect([isPresent(true, "a reason"), log.mock.calls]).toEqual([true, []]);
    expect([isPresent(false, "a reason"), log.mock.calls]).toEqual([false, [["skipped: a reason"]]]);
    process.env["CI"] = "true";
    expect(isPresent(true, "a reason")).toBe(true);
    expect(() => isPresent(false, "a reason")).toThrow("a reason");
    expect([isOptional(false, "a reason"), log.mock.calls.length]).toEqual([false, 2]);
    expect(findService("sh")).toBe(Bun.which("sh") ?? "");
    process.env["TRIVIUM_TEST_SERVICES"] = "no";
    expect([isPresent(false, "a reason"), findService("sh")]).toEqual([false, undefined]);
  } finally {
    log.mockRestore();
  }
});

test("no test passes because something is missing: it is skipped", async () => {
  const root = new URL("..", import.meta.url).pathname;
  const early = /if \(!?(?:\w+Present|canDecode\w*|Bun\.which)\([^)]*\)[^)]*\) return/;
  const found: string[] = [];
  for (const file of new Glob("{src,conformance,scripts,simulator,simulation,testing}/**/*.test.ts").scanSync(root)) {
    const lines = (await Bun.file(root + file).text()).split("\n");
    for (const [index, line] of lines.entries()) {
      const isGuard =
        early.test(line) || (/console\.log\(.skipped: /.test(line) && /^\s*return;/.test(lines[index + 1] ?? ""));
      if (isGuard) found.push(`${file}:${index + 1}`);
    }
  }
  expect(found).toEqual([]);
});
