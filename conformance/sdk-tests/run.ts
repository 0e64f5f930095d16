/**
 * Runs the resource tests of the vendors' own SDKs against the gateway, and reports for each resource how many of their requests
 * it accepts, refuses or does not serve. The tests are downloaded from the package index at the first run and are not part of this
 * repository; the gateway and the simulated hosts run on this machine. Arguments: names of suites, `openai==3.51.0` for another
 * version, `--json FILE` for every exchange, `--reasons` for every reason.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { installPackages } from "../agents/install.ts";
import { downloadSdist } from "./download-sdist.ts";
import { startSdkGateway } from "./gateway.ts";
import { type Exchange, startRecorder } from "./recorder.ts";
import { reportOf } from "./report.ts";
import { SUITES, type Suite } from "./suite.ts";

const arguments_ = process.argv.slice(2);
const jsonAt = arguments_.indexOf("--json");
const jsonFile = jsonAt < 0 ? undefined : arguments_[jsonAt + 1];
const withReasons = arguments_.includes("--reasons");
const chosen = arguments_.filter(
  (word, index) => !word.startsWith("--") && index !== jsonAt + 1 + (jsonAt < 0 ? 1e9 : 0),
);

const here = new URL(".", import.meta.url).pathname;
const PYTEST_MS = 1_800_000;

async function run(
  suite: Suite,
  version: string | undefined,
): Promise<{ title: string; report: string; bugs: number; exchanges: Exchange[] }> {
  const sdist = await downloadSdist(suite.package, version);
  const programs = await installPackages("pip", `tests-of-${suite.name}`, [
    `${suite.package}==${sdist.version}`,
    ...suite.needs,
  ]);
  await suite.prepare?.(sdist.folder);
  const gateway = await startSdkGateway();
  const recorder = startRecorder(suite, gateway);
  try {
    const child = Bun.spawn(
      [
        join(programs, "python"),
        ...[
          "-m",
          "pytest",
          "-p",
          "tell_recorder",
          "-p",
          "no:cacheprovider",
          "-q",
          "--no-header",
          "--tb=no",
          "--continue-on-collection-errors",
          "-o",
          "addopts=",
        ],
        ...suite.pytest,
        ...suite.folders,
      ],
      {
        cwd: sdist.folder,
        env: {
          PATH: process.env["PATH"] ?? "",
          PYTHONPATH: here,
          PYTHONDONTWRITEBYTECODE: "1",
          TRIVIUM_RECORDER: recorder.url,
          ...suite.environment(recorder.url),
        },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
        timeout: PYTEST_MS,
      },
    );
    const [output, complaints] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    if (recorder.exchanges.length === 0)
      throw new Error(`no request arrived\n${output.slice(-3000)}\n${complaints.slice(-3000)}`);
    const { exchanges, endings } = recorder;
    const title = `${suite.package} ${sdist.version}`;
    return { title, ...reportOf(suite.folders, exchanges, endings, withReasons), exchanges };
  } finally {
    await recorder.stop();
    await gateway.stop();
  }
}

let bugs = 0;
const all: Record<string, readonly Exchange[]> = {};
for (const suite of SUITES) {
  const asked = chosen.find((word) => word.split("==")[0] === suite.name);
  if (chosen.length > 0 && asked === undefined) continue;
  const result = await run(suite, asked?.split("==")[1]);
  console.log(`\n## ${result.title}\n\n${result.report}`);
  bugs += result.bugs;
  all[suite.name] = result.exchanges;
}
if (jsonFile !== undefined) writeFileSync(jsonFile, JSON.stringify(all, null, 1));
console.log(bugs === 0 ? "\nNo bugs." : `\n${bugs} bugs.`);
process.exit(bugs === 0 ? 0 : 1);
