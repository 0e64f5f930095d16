import { afterAll, describe, expect, test } from "bun:test";
import type { JsonObject } from "../json.ts";
import { Seed } from "../seed.ts";
import { startSimulator } from "../simulator.ts";
import { emptyPrompt } from "./adapter.ts";
import { agentSteps } from "./agent.ts";
import type { Prompt, PromptPart, Tool } from "./prompt.ts";

const PROMPT = "Read the file /notes/today.txt and write its content in upper case to /notes/loud.txt.";
const SEED = new Seed("agent");
const schema = (...names: string[]): JsonObject => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
});
const tool = (name: string, ...names: string[]): Tool => ({
  name,
  description: "",
  schema: schema(...names),
  freeform: false,
});

/** The names that agents in use give their tools, among others that only look like them. */
const SETS: Readonly<Record<string, { tools: Tool[]; read: [string, string]; write: [string, string] }>> = {
  one: {
    tools: [
      tool("Bash", "command"),
      tool("NotebookRead", "notebook"),
      tool("Write", "file_path", "content"),
      tool("Read", "file_path", "limit"),
    ],
    read: ["Read", "file_path"],
    write: ["Write", "file_path"],
  },
  other: {
    tools: [
      tool("read_many_files", "include"),
      tool("read_file", "absolute_path"),
      tool("write_file", "file_path", "content"),
    ],
    read: ["read_file", "absolute_path"],
    write: ["write_file", "file_path"],
  },
  third: {
    tools: [tool("MultiEdit", "filepath", "edits"), tool("Read", "filepath"), tool("Write", "filepath", "content")],
    read: ["Read", "filepath"],
    write: ["Write", "filepath"],
  },
};

const conversation = (tools: Tool[], ...results: Partial<PromptPart & { type: "result" }>[]): Prompt => ({
  ...emptyPrompt(),
  tools,
  turns: [
    { role: "user", parts: [{ type: "text", text: "<context>Read every.md, write nothing</context>" }] },
    { role: "assistant", parts: [{ type: "text", text: "Yes." }] },
    { role: "user", parts: [{ type: "text", text: PROMPT }] },
    ...results.flatMap((result, at) => [
      { role: "assistant" as const, parts: [{ type: "call" as const, id: `c${at}`, name: "x", input: {} }] },
      {
        role: "user" as const,
        parts: [{ type: "result" as const, id: `c${at}`, name: "x", text: "", media: [], failed: false, ...result }],
      },
    ]),
  ],
});
const inputOf = (prompt: Prompt) =>
  agentSteps(prompt, SEED)?.map((step) => (step.type === "call" ? [step.name, step.input] : step));
const said = (prompt: Prompt) =>
  agentSteps(prompt, SEED)?.map((step) =>
    step.type === "text" ? step.spans.map(({ text }) => text).join("") : step.type,
  );

describe("the simulator's agent", () => {
  for (const [name, { tools, read, write }] of Object.entries(SETS))
    test(`reads, writes and says so, with the tools of ${name} agent`, () => {
      expect(inputOf(conversation(tools))).toEqual([[read[0], { [read[1]]: "/notes/today.txt" }]]);
      expect(inputOf(conversation(tools, { text: "one\ntwo" }))).toEqual([
        [write[0], { [write[1]]: "/notes/loud.txt", content: "ONE\nTWO" }],
      ]);
      expect(said(conversation(tools, { text: "one" }, { text: "written" }))?.[0]).toStartWith("Done: ");
    });

  test("reads two files in parallel where it may, and writes both", () => {
    const { tools } = SETS["other"] ?? { tools: [] };
    const text = "Read the files /a.txt and /b.txt in parallel and write their content in upper case to /c.txt.";
    const read = ["/a.txt", "/b.txt"].map((path) => ["read_file", { absolute_path: path }]);
    const result = (id: string, answer: string) => ({
      type: "result" as const,
      id,
      name: "x",
      text: answer,
      media: [],
      failed: false,
    });
    const calls = ["1", "2"].map((id) => ({ type: "call" as const, id, name: "x", input: {} }));
    const after = (...turns: Prompt["turns"]): Prompt => ({
      ...emptyPrompt(),
      parallel: true,
      tools,
      turns: [{ role: "user", parts: [{ type: "text", text }] }, ...turns],
    });
    expect(inputOf(after())).toEqual(read);
    expect(inputOf({ ...after(), parallel: false })).toEqual(read.slice(0, 1));
    const both: Prompt["turns"] = [
      { role: "assistant", parts: calls },
      { role: "user", parts: [result("1", "one"), result("2", "two")] },
    ];
    expect(inputOf(after(...both))).toEqual([["write_file", { file_path: "/c.txt", content: "ONE\nTWO" }]]);
    const written: Prompt["turns"] = [
      { role: "assistant", parts: calls.slice(0, 1) },
      { role: "user", parts: [result("1", "written")] },
    ];
    expect(said(after(...both, ...written))).toEqual([
      "Done: /c.txt holds /a.txt and /b.txt in upper case, read in parallel.",
    ]);
    const oneByOne = ["1", "2"].flatMap((id): Prompt["turns"] => [
      { role: "assistant", parts: calls.slice(0, 1) },
      { role: "user", parts: [result(id, "x")] },
    ]);
    expect(said(after(...oneByOne, ...written))?.[0]).toEndWith("in upper case.");
  });

  test("works with a shell, and with patches where the agent takes them", () => {
    const words = { type: "object", properties: { command: { type: "array" } } };
    const shells: [Tool, (command: string) => JsonObject][] = [
      [tool("exec_command", "cmd", "workdir"), (command) => ({ cmd: command })],
      [{ ...tool("shell"), schema: words }, (command) => ({ command: ["bash", "-lc", command] })],
    ];
    for (const [shell, input] of shells) {
      expect(inputOf(conversation([shell]))).toEqual([[shell.name, input("cat '/notes/today.txt'")]]);
      const ran = "Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\none\n";
      expect(inputOf(conversation([shell], { text: ran }))).toEqual([
        [shell.name, input("cat > '/notes/loud.txt' <<'END'\nONE\nEND")],
      ]);
      const failed = ran.replace("code 0", "code 1");
      expect(said(conversation([shell], { text: failed }))?.[0]).toContain("gives up: Chunk ID");
      const patch = "*** Begin Patch\n*** Add File: /notes/loud.txt\n+ONE\n*** End Patch\n";
      const freeform = { ...tool("apply_patch"), freeform: true };
      expect(inputOf(conversation([shell, freeform], { text: ran }))).toEqual([["apply_patch", patch]]);
      expect(inputOf(conversation([shell, tool("apply_patch", "input")], { text: ran }))).toEqual([
        ["apply_patch", { input: patch }],
      ]);
    }
  });

  test("calls the tool that it is asked to call, also under the name of its namespace", () => {
    const asked = (tools: Tool[], ...results: { text: string }[]): Prompt => {
      const prompt = conversation(tools, ...results);
      const turns = prompt.turns.with(2, { role: "user", parts: [{ type: "text", text: "Call the tool close_it." }] });
      return { ...prompt, turns };
    };
    for (const name of ["close_it", "space__close_it"]) {
      expect(inputOf(asked([tool("other", "a"), tool(name, "b")]))?.[0]).toMatchObject([name, {}]);
      expect(said(asked([tool(name, "b")], { text: "closed" }))).toEqual(["Done: close_it answered “closed”."]);
    }
    expect(agentSteps(asked([tool("other", "a")]), SEED)).toBeUndefined();
  });

  test("leaves out what agents add to a file's content", () => {
    const { tools } = SETS["one"] ?? { tools: [] };
    const text = "     1→one\n     2→\n\n<system-reminder>\nDo not tell.\n</system-reminder>\n";
    expect(inputOf(conversation(tools, { text }))).toEqual([
      ["Write", { file_path: "/notes/loud.txt", content: "ONE\n" }],
    ]);
    expect(inputOf(conversation(tools, { text: "1\tone\n2\ttwo\n3\t" }))).toEqual([
      ["Write", { file_path: "/notes/loud.txt", content: "ONE\nTWO\n" }],
    ]);
    const inTags =
      "<path>/a.txt</path>\n<type>file</type>\n<content>\n1: one\n2: two\n\n(End of file - total 2 lines)\n</content>";
    expect(inputOf(conversation(tools, { text: inTags }))).toEqual([
      ["Write", { file_path: "/notes/loud.txt", content: "ONE\nTWO" }],
    ]);
    expect(inputOf(conversation(tools, { text: "Content of /notes/today.txt:\none\n" }))).toEqual([
      ["Write", { file_path: "/notes/loud.txt", content: "ONE" }],
    ]);
    // Numbers that are the file's own stay.
    expect(inputOf(conversation(tools, { text: "1\tone\ntwo" }))).toEqual([
      ["Write", { file_path: "/notes/loud.txt", content: "1\tONE\nTWO" }],
    ]);
  });

  test("reads with a tool that takes a list of files, and writes with an editor", () => {
    const tools = [
      tool("team_read_mailbox", "unread"),
      tool("read_files", "files"),
      tool("editor", "path", "new_text"),
    ];
    expect(inputOf(conversation(tools))).toEqual([["read_files", { files: [{ path: "/notes/today.txt" }] }]]);
    const text = JSON.stringify([{ query: "/notes/today.txt", result: "1 | one\n2 | two", success: true }]);
    expect(inputOf(conversation(tools, { text }))).toEqual([
      ["editor", { path: "/notes/loud.txt", new_text: "ONE\nTWO" }],
    ]);
    const list = '[{"a":1}]';
    expect(inputOf(conversation(tools, { text: list }))).toEqual([
      ["editor", { path: "/notes/loud.txt", new_text: list.toUpperCase() }],
    ]);
  });

  test("gives up when a tool fails, and has no step where there is no task or no tool for it", () => {
    const { tools } = SETS["other"] ?? { tools: [] };
    expect(said(conversation(tools, { text: "no such file", failed: true }))?.[0]).toContain("gives up: no such file");
    expect(agentSteps({ ...conversation(tools), turns: [] }, SEED)).toBeUndefined();
    expect(agentSteps(conversation(tools.slice(0, 2)), SEED)).toBeUndefined();
  });
});

describe("the simulator's agent in each protocol", async () => {
  const simulator = await startSimulator({ tokenDelayMs: 0 });
  afterAll(() => simulator.stop());
  const path = { type: "object", properties: { file_path: { type: "string" } } };
  const both = { type: "object", properties: { file_path: { type: "string" }, content: { type: "string" } } };
  const post = async (url: string, headers: Record<string, string>, body: object) => {
    const init = {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    };
    return JSON.stringify(await (await fetch(`${simulator.url}${url}`, init)).json());
  };

  test("chat", async () => {
    const functions = [
      { type: "function", function: { name: "read_file", parameters: path } },
      { type: "function", function: { name: "write_file", parameters: both } },
    ];
    const body = { model: "agent", tools: functions, messages: [{ role: "user", content: PROMPT }] };
    const answer = await post("/openai/v1/chat/completions", { authorization: "Bearer k" }, body);
    expect(answer).toContain('"name":"read_file","arguments":"{\\"file_path\\":\\"/notes/today.txt\\"}"');
  });

  test("messages", async () => {
    const tools = [
      { name: "Read", input_schema: path },
      { name: "Write", input_schema: both },
    ];
    const body = { model: "agent", max_tokens: 1000, tools, messages: [{ role: "user", content: PROMPT }] };
    const answer = await post("/anthropic/v1/messages", { "x-api-key": "k", "anthropic-version": "2023-06-01" }, body);
    expect(answer).toContain('"name":"Read","input":{"file_path":"/notes/today.txt"}');
  });

  test("genai", async () => {
    const functionDeclarations = [
      { name: "read_file", parametersJsonSchema: path },
      { name: "write_file", parametersJsonSchema: both },
    ];
    const body = { contents: [{ role: "user", parts: [{ text: PROMPT }] }], tools: [{ functionDeclarations }] };
    const answer = await post("/gemini/v1beta/models/agent:generateContent", { "x-goog-api-key": "k" }, body);
    expect(answer).toContain('"name":"read_file","args":{"file_path":"/notes/today.txt"}');
  });
});
