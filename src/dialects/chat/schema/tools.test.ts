import { describe } from "bun:test";
import { type RefusalCase, testRefusals } from "../../reading/refusal-table.ts";
import { checkChatRequest } from "./check-request.ts";

const sound = { model: "acme/one", messages: [{ role: "user", content: "Hello" }] };
const weather = { type: "function", function: { name: "weather", parameters: { type: "object" } } };

const rows: RefusalCase[] = [
  {
    rule: "contract 2.12: function tools",
    good: { tools: [weather] },
    bad: { tools: [weather, { type: "function", function: { parameters: {} } }] },
    path: "tools[1].function.name",
    says: "a non-empty string; it is missing",
  },
  {
    rule: "contract 2.12: parameters are a JSON Schema object",
    good: { tools: [weather] },
    bad: { tools: [{ type: "function", function: { name: "f", parameters: [] } }] },
    path: "tools[0].function.parameters",
    says: "must be an object; it is an array",
  },
  {
    rule: "contract 2.12: custom tools",
    good: { tools: [{ type: "custom", custom: { name: "shell", format: { type: "text" } } }] },
    bad: { tools: [{ type: "custom", custom: { name: "shell", format: { type: "yaml" } } }] },
    path: "tools[0].custom.format.type",
    says: 'one of "text", "grammar"',
  },
  {
    rule: "contract 2.12: a tool of an unlisted kind",
    good: { tools: [] },
    bad: { tools: [{ type: "acme:web_search", depth: 3 }] },
    path: "tools[0].type",
    says: 'one of "function", "custom"; it is "acme:web_search"',
  },
  {
    rule: "a tool without a kind",
    good: { tools: [] },
    bad: { tools: [{ name: "weather" }] },
    path: "tools[0].type",
    says: 'one of "function", "custom"; it is missing',
  },
  {
    rule: "contract 2.12: tool_choice values",
    good: { tool_choice: "required" },
    bad: { tool_choice: "any" },
    path: "tool_choice",
    says: 'one of "none", "auto", "required", or an object; it is "any"',
  },
  {
    rule: "contract 2.12: tool_choice of one function",
    good: { tool_choice: { type: "function", function: { name: "weather" } } },
    bad: { tool_choice: { type: "function", name: "weather" } },
    path: "tool_choice.function",
    says: "an object; it is missing",
  },
  {
    rule: "tool_choice of a custom tool",
    good: { tool_choice: { type: "custom", custom: { name: "shell" } } },
    bad: { tool_choice: { type: "tool", name: "shell" } },
    path: "tool_choice.type",
    says: 'one of "function", "custom", "allowed_tools"; it is "tool"',
  },
  {
    rule: "tool_choice of allowed tools",
    good: { tool_choice: { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [weather] } } },
    bad: { tool_choice: { type: "allowed_tools", allowed_tools: { mode: "any", tools: [] } } },
    path: "tool_choice.allowed_tools.mode",
    says: 'one of "auto", "required"',
  },
];

describe("chat request tools", () => testRefusals(checkChatRequest, sound, rows));
