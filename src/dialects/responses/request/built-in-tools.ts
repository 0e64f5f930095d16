import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import { stringifyInOrder } from "../../../wire/ordered-json.ts";
import type { BuiltInTool } from "./built-in-tool.ts";
import { COMPUTER } from "./computer-tool.ts";

/** Null means absent. */
const present = (object: unknown): JsonObject =>
  Object.fromEntries(Object.entries(isObject(object) ? object : {}).filter(([, value]) => value !== null));

const strings = (list: readonly unknown[]): string[] => list.filter((value) => typeof value === "string");

const SHELL: BuiltInTool = {
  name: "shell",
  description: "Runs shell commands on the user's machine, one after the other, and returns the output of each.",
  schema: {
    type: "object",
    properties: {
      commands: { type: "array", items: { type: "string" }, description: "The commands to run, in order." },
      timeout_ms: { type: "integer", description: "The maximum time for all commands, in milliseconds." },
      max_output_length: { type: "integer", description: "The maximum number of characters of output to return." },
    },
    required: ["commands"],
  },
  prefix: "sh",
  empty: { action: { commands: [], timeout_ms: null, max_output_length: null }, environment: { type: "local" } },
  argumentsOf: (item) => {
    const action = objectAt(item, "action");
    return withoutAbsent({
      commands: strings(arrayAt(action, "commands")),
      timeout_ms: numberAt(action, "timeout_ms"),
      max_output_length: numberAt(action, "max_output_length"),
    });
  },
  callOf: (input) => {
    const commands = arrayAt(input, "commands");
    if (commands.length === 0 || strings(commands).length !== commands.length) return undefined;
    const action = {
      commands,
      timeout_ms: numberAt(input, "timeout_ms") ?? null,
      max_output_length: numberAt(input, "max_output_length") ?? null,
    };
    return { action, environment: { type: "local" } };
  },
  resultOf: (item) => ({
    content: stringifyInOrder(
      arrayAt(item, "output").map((ran) => {
        const { outcome, ...streams } = present(ran);
        return { ...streams, outcome: present(outcome) };
      }),
    ),
  }),
};

const LOCAL_SHELL: BuiltInTool = {
  name: "local_shell",
  description: "Runs one command on the user's machine and returns its output.",
  schema: {
    type: "object",
    properties: {
      command: { type: "array", items: { type: "string" }, description: "The program and its arguments." },
      working_directory: { type: "string", description: "The directory to run the command in." },
      env: { type: "object", additionalProperties: { type: "string" }, description: "Environment variables to set." },
      timeout_ms: { type: "integer", description: "The maximum time for the command, in milliseconds." },
      user: { type: "string", description: "The user to run the command as." },
    },
    required: ["command"],
  },
  prefix: "lsh",
  empty: { action: { type: "exec", command: [], env: {} } },
  argumentsOf: (item) => {
    const { type: _type, ...action } = present(item["action"]);
    return action;
  },
  callOf: (input) => {
    const command = arrayAt(input, "command");
    if (command.length === 0 || strings(command).length !== command.length) return undefined;
    const env = objectAt(input, "env") ?? {};
    const timeout_ms = numberAt(input, "timeout_ms");
    const working_directory = stringAt(input, "working_directory");
    const user = stringAt(input, "user");
    return { action: { type: "exec", command, env, ...withoutAbsent({ timeout_ms, working_directory, user }) } };
  },
  resultOf: (item) => ({ content: stringAt(item, "output") ?? "" }),
};

const PATCH_TYPES: ReadonlySet<string | undefined> = new Set(["create_file", "update_file", "delete_file"]);

const APPLY_PATCH: BuiltInTool = {
  name: "apply_patch",
  description:
    "Creates, changes or deletes one file. A change is a diff in sections: a line that begins with @@, optionally followed by a " +
    "line of the file to find the place, then a few unchanged lines that begin with a space, removed lines that begin with - and " +
    "added lines that begin with +. There are no line numbers and no headers with file names. For a new file, every line of the " +
    "diff begins with +.",
  schema: {
    type: "object",
    properties: {
      type: { type: "string", enum: [...PATCH_TYPES], description: "What to do with the file." },
      path: { type: "string", description: "The path of the file." },
      diff: { type: "string", description: "The diff. Required unless the file is deleted." },
    },
    required: ["type", "path"],
  },
  prefix: "apc",
  empty: { operation: { type: "update_file", path: "", diff: "" } },
  argumentsOf: (item) => present(item["operation"]),
  callOf: (input) => {
    const type = stringAt(input, "type");
    const path = stringAt(input, "path");
    const diff = stringAt(input, "diff");
    if (!PATCH_TYPES.has(type) || path === undefined) return undefined;
    if (type === "delete_file") return { operation: { type, path } };
    return diff === undefined ? undefined : { operation: { type, path, diff } };
  },
  resultOf: (item) => ({
    content: stringAt(item, "output") ?? stringAt(item, "status") ?? "",
    ...(stringAt(item, "status") === "failed" ? { isError: true as const } : {}),
  }),
};

const BUILT_IN: ReadonlyMap<string, BuiltInTool> = new Map(
  [SHELL, LOCAL_SHELL, APPLY_PATCH, COMPUTER].map((tool) => [tool.name, tool]),
);

/** The tool by its definition in a request. Undefined for a shell in a provider's container, and for everything else. */
export function builtInTool(tool: unknown): BuiltInTool | undefined {
  const type = stringAt(tool, "type");
  if (type === "shell" && stringAt(objectAt(tool, "environment"), "type") !== "local") return undefined;
  return type === undefined ? undefined : BUILT_IN.get(type);
}

const ITEM = /^(\w+?)_call(_output)?$/;

interface BuiltInItem {
  tool: BuiltInTool;
  isResult: boolean;
}

/** The tool of an item. Undefined for a call in a provider's container. */
export function builtInItem(type: string, item: JsonObject): BuiltInItem | undefined {
  const [, name, output] = ITEM.exec(type) ?? [];
  const tool = name === undefined ? undefined : BUILT_IN.get(name);
  const environment = item["environment"];
  if (tool === undefined || (isObject(environment) && environment["type"] !== "local")) return undefined;
  return { tool, isResult: output !== undefined };
}
