import { describe, expect, test } from "bun:test";
import { Glob } from "bun";

/**
 * A test passes on a machine of any speed. It waits for an event (`testing/eventually.ts`) or moves a virtual clock, and counts
 * operations instead of measuring how long they take. What only real time shows belongs in `bench`.
 */
const REAL_TIME = [
  // Of 0, it is the next turn of the event loop.
  /\bBun\.sleep\((?!0\))|(?<![.\w])sleep\(|\bsetTimeout\(/,
  /\bperformance\.now\(|\bBun\.nanoseconds\b|\bsystem\.clock\.(sleep|after)\(/,
  /\bwhile \(.*Date\.now\(\)|\bfor \(.*Date\.now\(\) [<>]|Date\.now\(\) - \w*([bB]eg[au]n|[sS]tart)/,
];

/** Each with its reason. */
const ALLOWED_TIME: Readonly<Record<string, string>> = {
  "conformance/batches/instances.test.ts": "a budget is settled among instances by Redis, every second",
  "conformance/behind-nginx.test.ts": "counts the polls of several processes in intervals of real time",
  "conformance/calls-in-flight.test.ts": "a request to a frozen worker is never answered, and is asked again elsewhere",
  "conformance/console/voice.test.ts": "speech is spoken in real time to a real browser",
  "conformance/frozen/poller.test.ts": "freezes processes for a while, and reports how long recovery took",
  "conformance/frozen/postgres.test.ts": "reports how long recovery took",
  "conformance/frozen/videos.test.ts": "holds a database for longer than statements are waited for",
  "conformance/hazards/disconnects.test.ts": "clients leave at random moments",
  "conformance/hazards/idle-connections.test.ts": "the runtime itself closes idle connections, by its own clock",
  "conformance/hazards/random-endings.test.ts": "clients leave at random moments",
  "conformance/many-calls.test.ts": "clients that read late",
  "conformance/media/crash.test.ts": "kills processes at random moments",
  "conformance/oidc/browser-login.test.ts": "the keys of a real issuer are read again after five seconds",
  "conformance/oidc/instances.test.ts": "the keys of a real issuer are read again after five seconds",
  "conformance/oidc/login.test.ts": "the keys of a real issuer are read again after five seconds",
  "conformance/rolling-restart.test.ts": "clients call at a steady pace while processes are replaced",
  "conformance/shared-limits.test.ts": "shares of limits at a real Redis expire in real time",
  "conformance/workers.test.ts": "clients call at a steady pace while processes are replaced",
  "src/leases/redis-faults.test.ts": "shares of limits at a real Redis expire in real time",
};

/** A port is chosen by the program that listens on it: one that was free a moment ago may be taken. Each exception has its reason. */
const ALLOWED_PORTS: Readonly<Record<string, string>> = {
  "conformance/alerts.test.ts": "the program starts again on the same port",
  "conformance/batches/instances.test.ts": "instances are killed and started again on the same port",
  "conformance/cheats/program-harness.ts": "not part of the suite",
  "conformance/cli.test.ts": "the port is in a configuration that several commands read",
  "conformance/compose.test.ts": "the port is in an environment that several programs read",
  "conformance/configuration.test.ts": "two files must name the same port",
  "conformance/console/seeded-gateway.ts": "the console shows the configured port",
  "conformance/crashes/batches.ts": "the program is killed and started again on the same port",
  "conformance/crashes/crash-with-intents.ts": "the program is killed and started again on the same port",
  "conformance/crashes/exports.ts": "the program is killed and started again on the same port",
  "conformance/crashes/native-batches.ts": "the program is killed and started again on the same port",
  "conformance/crashes/run.ts": "the program is killed and started again on the same port",
  "conformance/files-at-instances.test.ts": "instances are killed and started again on the same port",
  "conformance/documents/hooks.test.ts": "a page names the port of its server",
  "conformance/image.test.ts": "the program's output stays in its container",
  "conformance/instances.test.ts": "the program's output stays in its container",
  "conformance/media/crash-harness.ts": "instances are killed and started again on the same port",
  "conformance/oidc/certified-provider.ts": "an issuer starts again under the same URL",
  "conformance/oidc/instances.test.ts": "a public URL is configured before the gateway listens",
  "conformance/oidc/people-gateway.ts": "a redirect URI is registered before the gateway listens",
  "conformance/outages/gateways.ts": "not part of the suite",
  "conformance/rolling-restart.test.ts": "nginx knows the port while instances are replaced",
  "conformance/secrets.test.ts": "the port is in a configuration that several gateways read",
  "conformance/start-mistakes.test.ts": "the mistake is a port that is taken",
  "conformance/support/nginx.ts":
    "nginx cannot say which port it got; it is started again on another if this one is taken",
  "conformance/written/run.ts": "workers and instances are started on ports that calls know",
  "src/app/start-app.test.ts": "the mistake is a port that is taken",
  "src/files/s3-server.sample.ts": "moto cannot say which port it got",
  "src/secrets/secrets.test.ts": "moto cannot say which port it got",
  "testing/free-port.test.ts": "tests it",
  "testing/postgres.ts": "PostgreSQL needs its port beforehand; it is started on another if this one is taken",
  "testing/redis.ts": "Redis needs its port beforehand; it is started on another if this one is taken",
};

const root = new URL("..", import.meta.url).pathname;
const FOLDERS = "{src,console,simulator,simulation,testing,scripts,conformance}/**";
const OWN = "scripts/clocks.test.ts";
const filesOf = (pattern: string) =>
  [...new Glob(`${FOLDERS}/${pattern}`).scanSync(root)].filter((file) => file !== OWN);
const tests = filesOf("*.{test,contract,sample}.ts");
const all = filesOf("*.ts");

const codeOf = async (file: string) =>
  (await Bun.file(root + file).text()).replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "");

async function linesWith(files: readonly string[], patterns: readonly RegExp[]): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const file of files) {
    const lines = (await codeOf(file)).split("\n").filter((line) => patterns.some((one) => one.test(line)));
    if (lines.length > 0)
      found.set(
        file,
        lines.map((line) => line.trim()),
      );
  }
  return found;
}

const without = (found: Map<string, string[]>, allowed: Readonly<Record<string, string>>) =>
  [...found].filter(([file]) => allowed[file] === undefined);

describe("tests are indifferent to the speed of the machine", () => {
  test("they neither wait for a fixed time nor measure it", async () => {
    expect(tests.length).toBeGreaterThan(800);
    const found = await linesWith(tests, REAL_TIME);
    expect(without(found, ALLOWED_TIME)).toEqual([]);
    expect(Object.keys(ALLOWED_TIME).filter((file) => !found.has(file))).toEqual([]);
  });

  test("they do not look for a free port ahead", async () => {
    const found = await linesWith(all, [/from ".*\/free-port\.ts"|free-port\.ts", import/]);
    expect(without(found, ALLOWED_PORTS)).toEqual([]);
    expect(Object.keys(ALLOWED_PORTS).filter((file) => !found.has(file))).toEqual([]);
  });

  // Otherwise it fails whatever test runs when it happens, in this file or a later one.
  test("they listen for the errors of their sockets", async () => {
    const connecting = await linesWith(all, [/import \{.*\bconnect\b.*\} from "node:(net|tls)"/]);
    const listening = await linesWith([...connecting.keys()], [/\.on(ce)?\("error"/]);
    expect([...connecting.keys()].filter((file) => !listening.has(file))).toEqual([]);
  });
});
