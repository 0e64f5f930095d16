import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";

const root = new URL("..", import.meta.url).pathname;
const read = (file: string) => readFileSync(join(root, file), "utf8");
const page = read("docs/reference/hazards.md");

interface Hazard {
  id: string;
  /** Files that the page names after "Tests." */
  tests: string[];
}

const HAZARDS: readonly Hazard[] = page
  .split(/^### /m)
  .slice(1)
  .map((section) => ({
    id: section.slice(0, 3),
    tests: [...(/^\*\*Tests\.\*\* (.+)$/m.exec(section)?.[1] ?? "").matchAll(/`([^`]+)`/g)].map(
      ([, file = ""]) => file,
    ),
  }));

const testFiles = [...new Glob("{src,simulator,conformance,scripts}/**/*.test.ts").scanSync(root)];

/** The ids in the names of a file's tests: those inside a string, outside comments. */
function idsIn(file: string): Set<string> {
  const lines = read(file)
    .split("\n")
    .filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line));
  const quoted = lines.flatMap((line) => [...line.matchAll(/["'`].*/g)].map(([text]) => text));
  return new Set(quoted.flatMap((text) => text.match(/\b[HS]\d\d\b/g) ?? []));
}

const cited = new Map(testFiles.map((file) => [file, idsIn(file)]));

describe("docs/reference/hazards.md", () => {
  test("its ids are in order, each once", () => {
    const ordered = (letter: string) => {
      const ids = HAZARDS.map(({ id }) => id).filter((id) => id.startsWith(letter));
      expect(ids).toEqual([...new Set(ids)].sort());
      return ids.length;
    };
    expect(ordered("H") + ordered("S")).toBe(HAZARDS.length);
    expect(HAZARDS.length).toBeGreaterThan(50);
  });

  test.each(HAZARDS.map(({ id, tests }) => [id, tests] as const))(
    "%s is held by the tests that it names",
    (id, tests) => {
      expect(tests).not.toBeEmpty();
      expect(tests.filter((file) => !existsSync(join(root, file)))).toEqual([]);
      expect(tests.filter((file) => !cited.get(file)?.has(id))).toEqual([]);
    },
  );

  test("no test cites a hazard that is not on the page", () => {
    const known = new Set(HAZARDS.map(({ id }) => id));
    const unknown = [...cited].flatMap(([file, ids]) =>
      [...ids].flatMap((id) => (known.has(id) ? [] : `${file}: ${id}`)),
    );
    expect(unknown).toEqual([]);
  });
});

describe("S01: what is installed", () => {
  test("is pinned by its digest, and runs nothing while it is installed", () => {
    const { packages } = JSON.parse(read("package-lock.json")) as { packages: Record<string, { integrity?: string }> };
    const installed = Object.entries(packages).filter(([path]) => path !== "");
    expect(installed.length).toBeGreaterThan(0);
    expect(installed.flatMap(([path, { integrity }]) => (integrity?.startsWith("sha512-") ? [] : path))).toEqual([]);
    expect(read(".npmrc")).toMatch(/^ignore-scripts=true$/m);
    const { scripts, dependencies, optionalDependencies } = JSON.parse(read("package.json")) as Record<
      string,
      Record<string, string>
    >;
    expect(Object.keys(scripts ?? {}).filter((name) => /^(?:pre|post)?(?:install|prepare)$/.test(name))).toEqual([]);
    expect(
      Object.values({ ...dependencies, ...optionalDependencies }).filter((version) => !/^\d+\.\d+\.\d+$/.test(version)),
    ).toEqual([]);
  });
});

describe("S03: the program", () => {
  /** Ways to start another program, or to run a text as code. What is loaded later is named in the source. */
  const FORBIDDEN =
    /\bBun\.(?:spawn|spawnSync|\$)|child_process|\bnode:(?:vm|cluster)\b|\beval\(|\bnew Function\(|\b(?:require|import)\((?!\s*")/;

  /** It starts this program again, with the arguments that it was started with. */
  const WORKERS = "src/app/workers/workers.ts";
  /** It bundles the console once, from a file of this program, with nothing of a request and no environment. */
  const CONSOLE = "src/app/bundled-console.ts";

  test("starts no other program and runs no text as code", () => {
    const sources = [...new Glob("{src,simulator}/**/*.ts").scanSync(root)].filter(
      (file) => !/\.(?:test|sample|child)\.ts$/.test(file),
    );
    expect(sources.length).toBeGreaterThan(200);
    const code = (file: string) => read(file).replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, "");
    expect(sources.filter((file) => FORBIDDEN.test(code(file)))).toEqual([CONSOLE, WORKERS]);
    expect(code(CONSOLE).match(new RegExp(FORBIDDEN, "g"))).toEqual(["Bun.spawn"]);
    expect(code(CONSOLE)).toContain('fileURLToPath(new URL("../../console/bundle.ts", import.meta.url))');
    expect(code(CONSOLE)).toContain("Bun.spawn([process.execPath, program], { env: {},");
    expect(code(WORKERS).match(new RegExp(FORBIDDEN, "g"))).toEqual(["Bun.spawn"]);
    const starters = sources.filter((file) => /\bnew Workers\(/.test(code(file)));
    expect(starters).toEqual(["src/cli/commands/serve.ts"]);
    expect(code("src/cli/commands/serve.ts")).toContain("command: [...ownCommand(), ...process.argv.slice(2)");
    expect(code("src/cli/commands/serve.ts").match(/return isCompiled \?.*/)?.[0]).toBe(
      "return isCompiled ? [process.execPath] : [process.execPath, ...process.execArgv, Bun.main];",
    );
  });
});
