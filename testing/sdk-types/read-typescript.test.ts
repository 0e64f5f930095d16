import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { typesIn, wordsOf } from "./declared-type.ts";
import { readTypeScript } from "./read-typescript.ts";

const folder = mkdtempSync(join(tmpdir(), "trivium-typescript-"));
afterAll(() => rmSync(folder, { recursive: true }));

mkdirSync(join(folder, "sdk"));
writeFileSync(join(folder, "sdk/shared.d.ts"), "export type Color = 'red' | 'green' | (string & {});\n");
writeFileSync(
  join(folder, "sdk/index.d.ts"),
  `
import * as Shared from "./shared.js";
/** type: 'an example, not a type' */
export interface TextBlock { type: 'text'; text: string; }
export interface ToolBlock extends TextBlock2 { type: 'tool_a' | 'tool_b'; inner: Array<Block>; }
interface TextBlock2 { label?: string | null; }
export type Block = TextBlock | ToolBlock;
export declare enum Stop { STOP = "STOP", LENGTH = "LENGTH" }
export declare class Upload { name: string; bytes(): Uint8Array; }
export declare class Answer { stop?: Stop; get text(): string; }
export namespace Message { interface Usage { input_tokens: number; } }
export interface Message<Format extends 'json' | 'text' = 'json'> {
  content: string | ReadonlyArray<Block>;
  color: Shared.Color | null;
  usage: Message.Usage;
  limits: Omit<Limits, 'secret'>;
  named: Record<string, { depth: number }>;
  file: Upload;
  format: Format;
  created: Date;
}
interface Limits { most: 1 | 2; secret: string; }
`,
);
const at = (type: string) => ({ file: "sdk/index.d.ts", type });

describe("types of TypeScript packages", () => {
  const read = readTypeScript(folder, [at("Message"), at("Answer"), at("Message.Usage"), at("Letter")]);
  const membersOf = async (index: number) => [...((await read)[index]?.types ?? [])][0]?.members;

  test("have the kinds of a union, also if they contain themselves", async () => {
    const content = (await membersOf(0))?.get("content");
    expect(content && wordsOf(content, "type")).toEqual(["text", "tool_a", "tool_b"]);
    expect([...(content ? typesIn(content) : [])].map(({ name }) => name).sort()).toEqual(["TextBlock", "ToolBlock"]);
    const tool = [...(content?.types ?? [])].find(({ name }) => name === "ToolBlock");
    expect([...(tool?.members.keys() ?? [])].sort()).toEqual(["inner", "label", "type"]);
  });

  test("have words through imports, enums and parameters", async () => {
    const members = await membersOf(0);
    expect([...(members?.get("color")?.words ?? [])].sort()).toEqual(["green", "red"]);
    expect(members?.get("color")?.types.size).toBe(0);
    expect([...(members?.get("format")?.words ?? [])].sort()).toEqual(["json", "text"]);
    expect((await membersOf(1))?.get("stop")?.words).toEqual(new Set(["STOP", "LENGTH"]));
  });

  test("have the members of derived and nested types", async () => {
    const members = await membersOf(0);
    const inside = (name: string) => [...(members?.get(name)?.types ?? [])].map((type) => [...type.members.keys()]);
    expect(inside("limits")).toEqual([["most"]]);
    expect(inside("named")).toEqual([["depth"]]);
    expect([...(members?.get("usage")?.types ?? [])].map(({ name }) => name)).toEqual(["Message.Usage"]);
    expect((await membersOf(2))?.get("input_tokens")?.numeric).toBe(true);
  });

  test("leave out what is not on the wire: files, getters and types of the runtime", async () => {
    const members = await membersOf(0);
    expect(members?.get("file")?.types.size).toBe(0);
    expect(members?.get("created")?.types.size).toBe(0);
    expect([...((await membersOf(1))?.keys() ?? [])]).toEqual(["stop"]);
  });

  test("are undefined if the package does not declare them", async () => {
    expect((await read)[3]).toBeUndefined();
    expect(await readTypeScript(folder, [{ file: "sdk/other.d.ts", type: "Message" }])).toEqual([undefined]);
  });
});
