import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Simulator, startSimulator } from "../simulator/simulator.ts";
import { callGateway } from "./support/client-calls.ts";
import { bareEnvironment, ProgramOnTerminal, runProgram, TRIVIUM } from "./support/program.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

// Each test starts the program several times, possibly on a slow machine.

const workFolder = mkdtempSync(join(tmpdir(), "trivium-start-"));
const newFolder = () => mkdtempSync(join(workFolder, "workspace-"));

let simulator: Simulator;
let gateway: TestGateway;
const onTerminals = new Set<ProgramOnTerminal>();

beforeAll(async () => {
  simulator = await startSimulator({ tokenDelayMs: 0 });
  gateway = await startTestGateway({ config: { simulator: true } });
});
afterAll(async () => {
  for (const program of onTerminals) program.kill();
  await gateway.stop();
  await simulator.stop();
  rmSync(workFolder, { recursive: true, force: true });
});

function onTerminal(args: string[], options: ConstructorParameters<typeof ProgramOnTerminal>[1]): ProgramOnTerminal {
  const program = new ProgramOnTerminal(args, options);
  onTerminals.add(program);
  return program;
}

/** Providers at the hosts that the simulator plays; it rejects keys named wrong. */
const bases = () => [
  ...["--base-url", `openai=${simulator.url}/openai/v1`],
  ...["--base-url", `anthropic=${simulator.url}/anthropic`],
  ...["--base-url", `gemini=${simulator.url}/gemini`],
];
const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8);

describe("trivium init", () => {
  test("without questions: keys from the environment stay there, keys from a pipe go to .env, and each is tested", async () => {
    const cwd = newFolder();
    const env = { GEMINI_API_KEY: "key-of-the-environment" };
    const options = { cwd, env, stdin: "openai=sk-piped-secret\nANTHROPIC_API_KEY=sk-other-secret\n" };
    const made = await runProgram(["init", "--yes", "--keys-stdin", ...bases()], options);
    expect(made).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        /^openai: key accepted\nanthropic: key accepted\ngemini: key accepted\nWrote \.env and trivium\.yaml\.\n\.env contains secrets\. Keep it out of version control\.\nStart the gateway with: \S*trivium serve\n$/,
      ),
      stderr: "",
    });
    expect(readFileSync(join(cwd, ".env"), "utf8")).toBe(
      "OPENAI_API_KEY=sk-piped-secret\nANTHROPIC_API_KEY=sk-other-secret\n",
    );
    expect([modeOf(join(cwd, ".env")), modeOf(join(cwd, "trivium.yaml"))]).toEqual(["600", "644"]);
    expect(readFileSync(join(cwd, "trivium.yaml"), "utf8")).not.toMatch(/secret|key-of/);

    // The written configuration works, from there and from elsewhere.
    const live = await runProgram(["check", "--live"], { cwd, env });
    expect(live.code).toBe(0);
    const { host } = new URL(simulator.url);
    expect(live.stdout).toContain(": OK (");
    expect(live.stdout.split("\n").slice(1, -1)).toEqual(
      ["openai", "anthropic", "gemini"].map((name) => `ok          ${name} (${host}): key accepted`),
    );
    const elsewhere = await runProgram(["models", "openai/gpt-5", "--config", join(cwd, "trivium.yaml"), "--json"], {
      cwd: newFolder(),
      env,
    });
    expect(elsewhere.code).toBe(0);
    expect(JSON.parse(elsewhere.stdout)).not.toEqual([]);
  });

  test("a rejected key is not written, nor anything else; one that cannot be tested is", async () => {
    const cwd = newFolder();
    const rejected = await runProgram(["init", "--yes", "--keys-stdin", "--json", ...bases()], {
      cwd,
      stdin: "openai=sk-good\nanthropic=sk-wrong\n",
    });
    expect([rejected.code, rejected.stderr]).toEqual([
      1,
      "trivium.yaml was not written: the key for anthropic was rejected. Give another key, or pass --no-check.\n",
    ]);
    const [, , ...custom] = bases();
    const inEnvironment = await runProgram(["init", "--yes", ...custom], {
      cwd,
      env: { ANTHROPIC_API_KEY: "sk-wrong" },
    });
    expect([inEnvironment.code, inEnvironment.stderr]).toEqual([
      1,
      "trivium.yaml was not written: the key for anthropic was rejected. Correct or unset ANTHROPIC_API_KEY, or pass --no-check.\n",
    ]);
    expect(JSON.parse(rejected.stdout)).toEqual({
      files: [],
      providers: [
        { provider: "openai", variable: "OPENAI_API_KEY", source: "given", state: "ok", detail: "key accepted" },
        {
          provider: "anthropic",
          variable: "ANTHROPIC_API_KEY",
          source: "given",
          state: "rejected",
          detail: "key rejected (HTTP 401); check providers.anthropic.api_key",
        },
      ],
    });
    expect(existsSync(join(cwd, ".env")) || existsSync(join(cwd, "trivium.yaml"))).toBe(false);

    const away = "openai=http://127.0.0.1:1/v1";
    const offline = await runProgram(["init", "--yes", "--keys-stdin", "--base-url", away, "--json"], {
      cwd,
      stdin: "openai=sk-good\n",
    });
    expect(offline.code).toBe(0);
    expect(JSON.parse(offline.stdout)).toMatchObject({
      files: [".env", "trivium.yaml"],
      providers: [{ state: "unreachable" }],
    });
    const checked = await runProgram(["check", "--live", "--json"], { cwd });
    expect(checked.code).toBe(1);
    expect(JSON.parse(checked.stdout)).toMatchObject({
      ok: false,
      live: [{ provider: "openai", state: "unreachable" }],
    });
  });

  test("nothing is overwritten without asking; other lines of .env stay", async () => {
    const cwd = newFolder();
    writeFileSync(join(cwd, ".env"), "# mine\nOTHER=1\nOPENAI_API_KEY=old\n");
    chmodSync(join(cwd, ".env"), 0o644);
    const options = { cwd, stdin: "openai=sk-new\n" };
    const args = ["init", "--yes", "--keys-stdin", "--no-check"];
    const held = await runProgram(args, options);
    expect(held.code).toBe(2);
    expect(held.stderr).toStartWith(".env already exists. Pass --force to update it. No files were written.\n");
    expect(existsSync(join(cwd, "trivium.yaml"))).toBe(false);
    expect((await runProgram([...args, "--force"], options)).code).toBe(0);
    expect(readFileSync(join(cwd, ".env"), "utf8")).toBe("# mine\nOTHER=1\nOPENAI_API_KEY=sk-new\n");
    expect(modeOf(join(cwd, ".env"))).toBe("600");
    const again = await runProgram(args, options);
    expect(again.code).toBe(2);
    expect(again.stderr).toStartWith(
      "trivium.yaml already exists. Pass --force to overwrite it. No files were written.\n",
    );

    const cases: [RegExp, string[], string][] = [
      [/^Standard input is not a terminal\. Pass --yes/, ["init"], ""],
      [/^--keys-stdin: unknown provider "opnai"\. Did you mean openai\?/, ["init", "--yes", "--keys-stdin"], "opnai=x"],
      [/^The key for openai must consist of visible ASCII/, ["init", "--yes", "--keys-stdin"], "openai=a b"],
      [/^--base-url: "openai" does not have the form PROVIDER=URL/, ["init", "--yes", "--base-url", "openai"], ""],
    ];
    for (const [message, words, stdin] of cases) {
      const ended = await runProgram(words, { cwd: newFolder(), stdin });
      expect(ended.code).toBe(2);
      expect(ended.stderr).toMatch(message);
      expect(ended.stderr).not.toContain("a b");
    }
  });

  test("on a terminal it prompts, hides what is typed, and prompts again if a key is rejected", async () => {
    const cwd = newFolder();
    const program = onTerminal(["init", ...bases()], { cwd, env: { ANTHROPIC_API_KEY: "sk-found-secret" } });
    await program.sees(/anthropic \(from ANTHROPIC_API_KEY\): key accepted/);
    await program.sees(/openai API key \(hidden; Enter to skip\): $/);
    await program.answer("sk-wrong-secret\r", /openai: key rejected \(HTTP 401\)[\s\S]*openai API key \(hidden/);
    // A mistyped end is deleted again.
    await program.answer("sk-typed-secretXY\u007f\u007f\r", /openai: key accepted[\s\S]*gemini API key \(hidden/);
    await program.answer(
      "\r",
      /Other providers that need only an API key: [^\n]*\bmistral\b[^\n]*\n[\s\S]*Another provider \(name, or Enter to finish\): $/,
    );
    await program.answer(
      "mistrall\r",
      /The provider "mistrall" is unknown or needs more than an API key\. Did you mean mistral\?[\s\S]*finish\): $/,
    );
    await program.answer("\r", /Wrote \.env and trivium\.yaml\./);
    expect(await program.ended()).toBe(0);
    expect(program.shown).not.toContain("-secret");
    expect(readFileSync(join(cwd, ".env"), "utf8")).toBe("OPENAI_API_KEY=sk-typed-secret\n");
    expect(readFileSync(join(cwd, "trivium.yaml"), "utf8")).toMatch(/anthropic:\n {4}kind: anthropic\n/);

    const second = onTerminal(["init"], { cwd });
    await second.sees(/trivium\.yaml already exists\. Overwrite it\? \[y\/N\] $/);
    await second.answer("n\r", /No files were written\./);
    expect(await second.ended()).toBe(130);
    const third = onTerminal(["init", "--force"], { cwd: newFolder() });
    await third.sees(/openai API key/);
    await third.answer("\u0003", /No files were written\./);
    expect(await third.ended()).toBe(130);
  });
});

describe("trivium chat", () => {
  const env = () => ({ TRIVIUM_URL: gateway.url, TRIVIUM_API_KEY: gateway.key });

  test("in a pipe it reads the prompt, prints the response, and prints tokens and cost to standard error", async () => {
    const cwd = newFolder();
    const said = await runProgram(["chat", "sim/standard"], { cwd, env: env(), stdin: "hi there\n" });
    expect(said.code).toBe(0);
    expect(said.stdout).toMatch(/^This is Trivium's simulator speaking, not a model\. You wrote: “hi there”\..*\n$/);
    expect(said.stderr).toMatch(/^\d+ in, \d+ out, \$0\.\d{6}\n$/);

    const reported = await runProgram(["chat", "--json", "--system", "Be brief."], {
      cwd,
      env: env(),
      stdin: "hi there",
    });
    const answer = JSON.parse(reported.stdout) as { receipt: string; cost_usd: number; usage: Record<string, number> };
    expect(answer).toMatchObject({ model: "sim/standard", stopped: false });
    const receipt = await gateway.receipt(new Response(null, { headers: { "x-trivium-receipt": answer.receipt } }));
    expect(answer.cost_usd).toBe(receipt.cost_usd);
    expect(answer.usage["output_tokens"]).toBe(receipt.usage["output"] ?? -1);
    expect(receipt.model).toBe("sim/standard");
  });

  test("failures exit with 1 and the gateway's message; wrong usage exits with 2", async () => {
    const cwd = newFolder();
    const ask = (args: string[], stdin: string, more = {}) =>
      runProgram(["chat", ...args], { cwd, env: { ...env(), ...more }, stdin });
    const unknown = await ask(["sim/standrd"], "hi");
    expect(unknown).toMatchObject({ code: 1, stdout: "" });
    expect(unknown.stderr).toContain("Did you mean sim/standard?");
    const broken = await ask(["sim/cut-mid-stream"], "hi");
    expect(broken.code).toBe(1);
    expect(broken.stderr).not.toMatch(/^\s+at /m);
    expect((await ask(["sim/standard"], "  \n")).code).toBe(2);
    expect((await ask(["sim/standard"], "hi", { TRIVIUM_API_KEY: "" })).code).toBe(2);
  });

  test("on a terminal it keeps the conversation, changes the model, and Ctrl-C stops only the response", async () => {
    const program = onTerminal(["chat", "sim/standard"], { cwd: newFolder(), env: { ...env(), NO_COLOR: "1" } });
    await program.sees(/> $/);
    await program.answer(
      "first words\r",
      /You wrote: “first words”\. The request holds 1 turn[\s\S]*\$0\.\d{6}\r\n> $/,
    );
    await program.answer("second words\r", /“second words”\. The request holds 3 turns[\s\S]*\$0\.\d{6}\r\n> $/);
    await program.answer("/model sim/slow\r", /model: sim\/slow\r\n> $/);
    await program.answer("third words\r", /This/);
    await program.answer("\u0003", /stopped\r\n> $/);
    await program.answer("/model sim/nobody\r", /> $/);
    await program.answer("fourth words\r", /There is no model "sim\/nobody"[\s\S]*> $/);
    await program.answer("/exit\r", /$/);
    expect(await program.ended()).toBe(0);
  });
});

describe("trivium env", () => {
  test("prints shell lines that name the key and do not show it", async () => {
    const cwd = newFolder();
    const env = { TRIVIUM_URL: "https://models.example/", TRIVIUM_API_KEY: "sk-trv-secret" };
    const reported = await runProgram(["env", "claude-code", "--model", "sim/agent"], { cwd, env });
    expect(reported).toEqual({
      code: 0,
      stdout: [
        "export ANTHROPIC_BASE_URL='https://models.example'",
        'export ANTHROPIC_AUTH_TOKEN="$TRIVIUM_API_KEY"',
        "export ANTHROPIC_MODEL='sim/agent'",
        "export ANTHROPIC_DEFAULT_HAIKU_MODEL='sim/agent'\n",
      ].join("\n"),
      stderr: "",
    });
    const json = await runProgram(["env", "openai", "--json"], { cwd });
    expect(JSON.parse(json.stdout)).toEqual({
      OPENAI_BASE_URL: "http://127.0.0.1:8787/v1",
      OPENAI_API_KEY: "$TRIVIUM_API_KEY",
    });
    // The lines work in a shell.
    const shell = Bun.spawn(["sh", "-c", `${reported.stdout}\nprintf %s "$ANTHROPIC_AUTH_TOKEN"`], {
      env,
      stdout: "pipe",
    });
    expect(await shell.stdout.text()).toBe("sk-trv-secret");
    const [codex, unknown, missing] = await Promise.all(
      [["codex"], ["emacs"], []].map((words) => runProgram(["env", ...words], { cwd })),
    );
    expect(codex?.code).toBe(1);
    expect(codex?.stderr).toContain("config.toml");
    expect([unknown?.code, missing?.code]).toEqual([2, 2]);
    expect(unknown?.stderr).toContain("openai, anthropic, google, claude-code, gemini-cli, aider, qwen-code");
  });
});

test("decision 0029: if nobody reads standard error, calls are still answered and the program can stop", async () => {
  const cwd = newFolder();
  const pipe = join(cwd, "pipe");
  expect(Bun.spawnSync(["mkfifo", pipe]).exitCode).toBe(0);
  // Open at both ends, and nobody reads from it.
  const unread = openSync(pipe, constants.O_RDWR);
  const child = Bun.spawn([TRIVIUM, "serve", "--json", "--port", "0", "--admin-port", "0"], {
    cwd,
    env: bareEnvironment(),
    stdout: "pipe",
    stderr: unread,
    timeout: 50_000,
    killSignal: "SIGKILL",
  });
  try {
    let reported = "";
    const decoder = new TextDecoder();
    for await (const part of child.stdout) {
      reported += decoder.decode(part, { stream: true });
      if (reported.endsWith("}\n")) break;
    }
    const { url, first_start } = JSON.parse(reported) as { url: string; first_start: { api_key: string } };
    // A pipe holds 64 kB, and each line has about half of one.
    for (let calls = 0; calls < 200; calls++) {
      const answer = await callGateway(url, "chat", first_start.api_key, { model: "sim/max-tokens" });
      expect(answer.status).toBe(200);
      await answer.text();
    }
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
  } finally {
    child.kill("SIGKILL");
    closeSync(unread);
  }
});

describe("trivium serve on a terminal", () => {
  test("choices 7: the banner and the log are human-readable, in colour unless NO_COLOR is set", async () => {
    for (const env of [{}, { NO_COLOR: "1" }] as Record<string, string>[]) {
      const program = onTerminal(["serve", "--port", "0", "--admin-port", "0"], { cwd: newFolder(), env });
      const [, url = ""] = await program.sees(/is listening on (http:\S+)/);
      const [, key = ""] = await program.sees(/API key \(shown once\) +(\S+)[\s\S]*curl/);
      const answer = await callGateway(url, "chat", key, { model: "sim/standard" });
      await program.sees(
        / info {2}sim\/standard {2}\d+ ms {2}in \d+ out \d+ {2}\$0\.\d{6} {2}simulator \(127\.0\.0\.1:\d+\)/,
      );
      expect(answer.status).toBe(200);
      await program.answer("\u0003", /shutting down/);
      expect(await program.ended()).toBe(0);
      expect(program.shown.includes("\u001b[32minfo")).toBe(env["NO_COLOR"] === undefined);
      expect(program.shown.includes("\u001b[1mTrivium")).toBe(env["NO_COLOR"] === undefined);
    }
  });
});

test("S20: no code in the working directory is run, and no .env there changes where a client command sends its key", async () => {
  const cwd = newFolder();
  const asked: string[] = [];
  const trap = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ headers }) => {
      asked.push(headers.get("authorization") ?? "");
      return Response.json({ data: [] });
    },
  });
  writeFileSync(join(cwd, "bunfig.toml"), 'preload = ["./preloaded.ts"]\n');
  writeFileSync(join(cwd, "preloaded.ts"), 'await Bun.write("ran.txt", "code of the working folder was run");\n');
  writeFileSync(join(cwd, ".env"), `TRIVIUM_URL=http://127.0.0.1:${trap.port}\nTRIVIUM_CONFIG=./trivium.yaml\n`);
  writeFileSync(join(cwd, "trivium.yaml"), JSON.stringify({ server: { port: trap.port } }));
  const env = { TRIVIUM_API_KEY: "sk-trv-key-of-the-user" };
  const { code } = await runProgram(["image", "a fox", "-o", "fox.png"], { cwd, env });
  await runProgram(["--version"], { cwd, env });
  await trap.stop(true);
  expect(code).not.toBe(0);
  expect(asked).toEqual([]);
  expect(existsSync(join(cwd, "ran.txt"))).toBe(false);
});
