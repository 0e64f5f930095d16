import { describe, expect, test } from "bun:test";
import { ServerTools } from "./server-tools.ts";

const used = (name: string) => ({ type: "server_tool_use", id: "s", name, input: {} });
const found = { type: "web_search_tool_result", tool_use_id: "s", content: [] };

describe("H26: hosted tools that have started are billed", () => {
  test("a search is open from its call to its result", () => {
    const tools = new ServerTools();
    const open = [used("web_search"), used("web_search"), found, found].map((block) => {
      tools.count(block);
      return tools.openSearches;
    });
    expect(open).toEqual([1, 2, 1, 0]);
    tools.count(found);
    expect(tools.openSearches).toBe(0);
  });

  test("other tools count from their calls on, and those in one container count as one", () => {
    const blocks = [
      used("web_fetch"),
      used("bash_code_execution"),
      used("text_editor_code_execution"),
      used("web_search"),
    ];
    const tools = ServerTools.in([...blocks, { type: "mcp_tool_use", id: "m", name: "anything" }]);
    expect(tools.addTo({ input: 1 }, undefined)).toEqual({
      input: 1,
      tools: { web_fetch: 1, code_execution: 2, mcp: 1 },
    });
  });

  test("the host's count is used if it is larger", () => {
    const raw = { server_tool_use: { web_fetch_requests: 3, web_search_requests: 9, x_requests: 0 } };
    expect(ServerTools.in([used("web_fetch")]).addTo({}, raw)).toEqual({ tools: { web_fetch: 3 } });
    expect(ServerTools.in([used("web_fetch")]).addTo({}, { server_tool_use: { web_fetch_requests: 0 } })).toEqual({
      tools: { web_fetch: 1 },
    });
  });

  test("S18: no use is lost, however many tool names there are", () => {
    const tools = ServerTools.in(Array.from({ length: 5000 }, (_, index) => used(`tool_${index}`)));
    const counted = Object.values(tools.addTo({}, undefined)?.tools ?? {});
    expect(counted.length).toBeLessThanOrEqual(17);
    expect(counted.reduce((sum, uses) => sum + uses, 0)).toBe(5000);
  });
});
