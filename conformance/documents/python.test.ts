import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { Glob } from "bun";
import { Page } from "../../scripts/markdown-page.ts";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { isOptional, programsPresent } from "../../testing/is-present.ts";
import { clientSections } from "../support/client-harness.ts";
import { type SecureFront, startSecureFront } from "../support/secure-front.ts";
import { Reader, ROOT } from "./reader.ts";
import { ANSWER } from "./test-page.ts";

const pages = [...new Glob("docs/**/*.md").scanSync(ROOT)].sort().map((file) => new Page(file));
const examples = pages.flatMap(({ file, blocks }) =>
  blocks
    .filter(({ language, note }) => language === "python" && note === "")
    .map(({ code, line }) => ({ file, line, code, modules: modulesIn(code) })),
);

/** Further interpreters, such as virtual environments, that may have the packages. */
const interpreters = ["python3", ...(process.env["TRIVIUM_TEST_PYTHON"] ?? "").split(":")].filter(
  (one) => one !== "" && Bun.which(one) !== null,
);
const present = programsPresent("Python examples of the documents", "python3");

/** The packages that an example needs, by the modules that it imports; live connections need one more. */
function modulesIn(code: string): string[] {
  const imported = [...code.matchAll(/^(?:from|import) ([\w.]+)/gm)].map(([, name = ""]) => name);
  const own = new Set(["asyncio", "base64", "os"]);
  return [...imported.filter((name) => !own.has(name)), ...(/\.connect\(/.test(code) ? ["websockets"] : [])];
}

/** Compiles the examples, and prints for each whether its modules are installed. */
const CHECK = `
import importlib.util, json, sys
def there(name):
    try: return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError: return False
found = []
for one in json.load(sys.stdin):
    compile(one["code"], one["file"], "exec")
    found.append(all(there(name) for name in one["modules"]))
print(json.dumps(found))
`;

function checkIn(interpreter: string): boolean[] {
  const { stdout, stderr } = Bun.spawnSync([interpreter, "-c", CHECK], {
    stdin: Buffer.from(JSON.stringify(examples)),
  });
  if (stdout.length === 0) throw new Error(`${interpreter}: ${stderr.toString()}`);
  return JSON.parse(stdout.toString()) as boolean[];
}

const checks = interpreters.map((interpreter) => ({ interpreter, found: checkIn(interpreter) }));

/** What the examples of live.md print. The others print the answer to the question of the examples. */
const HEARD = "This is Trivium's simulator. You said: “Where do three roads meet?”.";
const EXPECTED: readonly (readonly [words: string, printed: string])[] = [
  ["client.responses.connect", "completed rcp_\ncompleted rcp_"],
  ["client.realtime.connect", `${HEARD}\ncompleted True rcp_`],
  ["client.aio.live.connect", `${HEARD}\ncompleted True`],
];

test.skipIf(!present)("docs/alerts.md: its Python distinguishes genuine messages from forged ones", () => {
  const signed = (secret: string, seconds: number) =>
    `t=${seconds},v1=${createHmac("sha256", secret).update(`${seconds}.{}`).digest("hex")}`;
  const now = Math.floor(Date.now() / 1000);
  const cases = [
    { signature: signed("secret", now), expected: true },
    { signature: signed("another", now), expected: false },
    { signature: signed("secret", now - 400), expected: false },
    { signature: signed("secret", now).replace(/^t=\d+/, `t=${now - 1}`), expected: false },
    { signature: signed("secret", now).slice(0, -1), expected: false },
    { signature: "", expected: false },
    { signature: "t=,v1=", expected: false },
  ];
  const rest = `
import json, sys
print(json.dumps([verify(b"{}", one["signature"], "secret") for one in json.load(sys.stdin)]))
`;
  const code = new Page("docs/alerts.md").one("python receiver") + rest;
  const { stdout, stderr } = Bun.spawnSync(["python3", "-c", code], { stdin: Buffer.from(JSON.stringify(cases)) });
  expect(stderr.toString()).toBe("");
  expect(JSON.parse(stdout.toString())).toEqual(cases.map(({ expected }) => expected));
});

describe.skipIf(!present)("Python examples", () => {
  let simulator: Simulator;
  let reader: Reader;
  let front: SecureFront;

  beforeAll(async () => {
    simulator = await startSimulator({ tokenDelayMs: 0 });
    reader = await Reader.begin(clientSections(simulator.url, "standard"));
    front = await startSecureFront(reader.gateway.url);
    Object.assign(reader.environment, {
      LITELLM_LOCAL_MODEL_COST_MAP: "True",
      TRIVIUM_SECURE_URL: front.url,
      SSL_CERT_FILE: front.authority,
    });
  });
  afterAll(async () => {
    await front.stop();
    await reader.end();
    await simulator.stop();
  });

  test("every example compiles", () => {
    expect(examples.length).toBeGreaterThan(20);
  });

  for (const [index, { file, line, code, modules }] of examples.entries()) {
    const interpreter = checks.find(({ found }) => found[index])?.interpreter;
    const isThere = isOptional(interpreter !== undefined, `${file}: ${modules.join(", ")} not installed`);
    test.skipIf(!isThere)(`${file}, line ${line}: ${modules[0]}`, async () => {
      // live.md asks for TLS in front of the gateway.
      const secured =
        file === "docs/live.md"
          ? code.replaceAll('"TRIVIUM_URL"', '"TRIVIUM_SECURE_URL"').replaceAll("'TRIVIUM_URL'", "'TRIVIUM_SECURE_URL'")
          : code;
      const printed = await reader.run([interpreter ?? "", "-W", "ignore"], `example-${index}.py`, secured);
      const [, wanted] = EXPECTED.find(([words]) => code.includes(words)) ?? [];
      if (wanted === undefined) expect(printed).toMatch(ANSWER);
      else expect(printed.trim()).toBe(wanted);
    });
  }
});
