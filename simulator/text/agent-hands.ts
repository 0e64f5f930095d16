import { isObject, type Json, type JsonObject } from "../json.ts";
import type { Tool } from "./prompt.ts";

const PATH_NAMES = ["file_path", "absolute_path", "path", "filePath", "filepath", "filename", "file"];
const CONTENT_NAMES = ["content", "contents", "text", "data", "new_text"];
/** A list of files, each an object with its path. */
const LIST_NAME = "files";
const COMMAND_NAMES = ["cmd", "command"];
const SHELL = /^(?:exec_command|shell|shell_command|bash|container\.exec)$/;
const PATCH = /^apply_patch$/;
const PATCH_NAMES = ["input", "patch", "patchText"];

export interface Call {
  name: string;
  input: Json;
  freeform: boolean;
}

/** How an agent's tools read a file and write one. */
export interface Hands {
  read(path: string): Call;
  write(path: string, content: string): Call;
}

/** Tools are found by their names and arguments, which are every agent's own; a shell is the last resort. */
export const findHands = (tools: readonly Tool[]): Hands | undefined => fileHands(tools) ?? shellHands(tools);

const propertiesOf = ({ schema }: Tool): JsonObject => (isObject(schema?.properties) ? schema.properties : {});

const call = (name: string, input: JsonObject): Call => ({ name, input, freeform: false });

interface FileTool {
  name: string;
  path: string;
  /** Absent for a tool that only reads. */
  content?: string;
}

function findFileTool(tools: readonly Tool[], verb: RegExp, writes: boolean): FileTool | undefined {
  for (const tool of tools) {
    const properties = propertiesOf(tool);
    const path = PATH_NAMES.find((one) => one in properties);
    const content = CONTENT_NAMES.find((one) => one in properties);
    if (!verb.test(tool.name) || path === undefined || (content !== undefined) !== writes) continue;
    return { name: tool.name, path, ...(content === undefined ? {} : { content }) };
  }
  return undefined;
}

function singleReader(tools: readonly Tool[]): Hands["read"] | undefined {
  const reader = findFileTool(tools, /read/i, false);
  return reader && ((path) => call(reader.name, { [reader.path]: path }));
}

function listReader(tools: readonly Tool[]): Hands["read"] | undefined {
  const reader = tools.find((tool) => /read/i.test(tool.name) && LIST_NAME in propertiesOf(tool));
  return reader && ((path) => call(reader.name, { [LIST_NAME]: [{ path }] }));
}

function fileHands(tools: readonly Tool[]): Hands | undefined {
  const read = singleReader(tools) ?? listReader(tools);
  const writer = findFileTool(tools, /write|^editor$/i, true);
  const contentName = writer?.content;
  if (read === undefined) return undefined;
  if (writer !== undefined && contentName !== undefined) {
    return { read, write: (path, content) => call(writer.name, { [writer.path]: path, [contentName]: content }) };
  }
  const write = patcher(tools);
  return write && { read, write };
}

/** Reads with the shell, and writes with patches where the agent takes them. */
function shellHands(tools: readonly Tool[]): Hands | undefined {
  const shell = tools.find(({ name }) => SHELL.test(name));
  const properties = shell === undefined ? {} : propertiesOf(shell);
  const argument = COMMAND_NAMES.find((one) => one in properties);
  if (shell === undefined || argument === undefined) return undefined;
  const schema = properties[argument];
  const takesWords = isObject(schema) && schema.type === "array";
  const run = (command: string) => call(shell.name, { [argument]: takesWords ? ["bash", "-lc", command] : command });
  return {
    read: (path) => run(`cat ${quoted(path)}`),
    write: patcher(tools) ?? ((path, content) => run(`cat > ${quoted(path)} <<'END'\n${content}\nEND`)),
  };
}

/** A tool for patches takes free text, or has one argument for it where its host has no such tools. */
function patcher(tools: readonly Tool[]): Hands["write"] | undefined {
  const tool = tools.find(({ name }) => PATCH.test(name));
  if (tool === undefined) return undefined;
  const { name, freeform } = tool;
  const argument = PATCH_NAMES.find((one) => one in propertiesOf(tool));
  if (!freeform && argument === undefined) return undefined;
  return (path, content) => {
    const lines = content.split("\n").map((line) => `+${line}`);
    const patch = ["*** Begin Patch", `*** Add File: ${path}`, ...lines, "*** End Patch", ""].join("\n");
    return argument === undefined ? { name, input: patch, freeform } : call(name, { [argument]: patch });
  };
}

const quoted = (path: string): string => `'${path.replaceAll("'", "'\\''")}'`;
