import { describe } from "bun:test";
import { type RefusalCase, testRefusals } from "../../reading/refusal-table.ts";
import { checkMessagesRequest } from "./check-request.ts";

const sound = { model: "acme/one", max_tokens: 4096, messages: [{ role: "user", content: "Hello" }] };
const tools = (...list: unknown[]) => ({ tools: list });
const custom = { name: "weather", input_schema: { type: "object", properties: {}, required: [] } };
const search = { type: "web_search_20250305", name: "web_search" };

const rows: RefusalCase[] = [
  {
    rule: "contract 2.10: a custom tool has a name",
    good: tools(custom),
    bad: tools(custom, { input_schema: { type: "object" } }),
    path: "tools[1].name",
    says: "it is missing",
  },
  {
    rule: "contract 8: a tool name has at most 128 characters",
    good: tools({ ...custom, name: "n".repeat(128) }),
    bad: tools({ ...custom, name: "n".repeat(129) }),
    path: "tools[0].name",
    says: "a string of 1 to 128 characters; it has 129 characters",
  },
  {
    rule: "contract 2.10: the type of a custom tool may be given",
    good: tools({ ...custom, type: "custom" }),
    bad: tools({ type: "custom", name: "weather" }),
    path: "tools[0].input_schema",
    says: "an object; it is missing",
  },
  {
    rule: "contract 2.10: input_schema is of type object",
    good: tools(custom),
    bad: tools({ ...custom, input_schema: { type: "array" } }),
    path: "tools[0].input_schema.type",
    says: 'must be "object"; it is "array"',
  },
  {
    rule: "contract 2.10: input_schema.required is an array of strings",
    good: tools(custom),
    bad: tools({ ...custom, input_schema: { type: "object", required: [1] } }),
    path: "tools[0].input_schema.required[0]",
    says: "a string; it is 1",
  },
  {
    rule: "contract 2.10: the bash tool is called bash",
    good: tools({ type: "bash_20250124", name: "bash" }),
    bad: tools({ type: "bash_20250124", name: "sh" }),
    path: "tools[0].name",
    says: 'must be "bash"; it is "sh"',
  },
  {
    rule: "contract 2.10: the text editor has two names",
    good: tools({ type: "text_editor_20250728", name: "str_replace_based_edit_tool", max_characters: 10_000 }),
    bad: tools({ type: "text_editor_20250728", name: "editor" }),
    path: "tools[0].name",
    says: 'one of "str_replace_editor", "str_replace_based_edit_tool"',
  },
  {
    rule: "contract 2.10: the web search tool is called web_search",
    good: tools({ ...search, max_uses: 5 }),
    bad: tools({ ...search, name: "search" }),
    path: "tools[0].name",
    says: 'must be "web_search"',
  },
  {
    rule: "contract 2.10: max_uses is a number",
    good: tools({ ...search, max_uses: null }),
    bad: tools({ ...search, max_uses: "five" }),
    path: "tools[0].max_uses",
    says: "an integer of at least 1, or null",
  },
  {
    rule: "contract 2.10: allowed_domains excludes blocked_domains",
    good: tools({ ...search, allowed_domains: ["a.example"], blocked_domains: null }),
    bad: tools({ ...search, allowed_domains: ["a.example"], blocked_domains: ["b.example"] }),
    path: "tools[0].blocked_domains",
    says: "send only one of them",
  },
  {
    rule: "contract 2.10: user_location is approximate",
    good: tools({
      ...search,
      user_location: { type: "approximate", city: "Bern", country: "CH", timezone: "Europe/Zurich" },
    }),
    bad: tools({ ...search, user_location: { type: "exact" } }),
    path: "tools[0].user_location.type",
    says: 'must be "approximate"; it is "exact"',
  },
  {
    rule: "contract 2.10: the country has two letters",
    good: tools({ ...search, user_location: { type: "approximate", country: "CH" } }),
    bad: tools({ ...search, user_location: { type: "approximate", country: "Switzerland" } }),
    path: "tools[0].user_location.country",
    says: "two letters (ISO 3166-1 alpha-2)",
  },
  {
    rule: "contract 2.10: cache_control on tools",
    good: tools({ ...custom, cache_control: { type: "ephemeral", ttl: "1h" } }),
    bad: tools({ ...custom, cache_control: { type: "ephemeral", ttl: "2h" } }),
    path: "tools[0].cache_control.ttl",
    says: 'one of "5m", "1h"; it is "2h"',
  },
  {
    rule: "a built-in tool that is not listed",
    good: tools({ type: "bash_20250124", name: "bash" }),
    bad: tools({ type: "memory_20250818", name: "memory" }),
    path: "tools[0].type",
    says: 'one of "custom", "bash_20250124", or "text_editor_<date>", or "web_search_<date>"; it is "memory_20250818"',
  },
  {
    rule: "another version of the web search",
    good: tools({ type: "web_search_20250305", name: "web_search" }),
    bad: tools({ type: "web_search_20260209", name: "web_search" }),
    path: "tools[0].type",
    says: 'must be "web_search_20250305"; it is "web_search_20260209"',
  },
  {
    rule: "a tool's type that is not a string",
    good: tools({ type: "bash_20250124", name: "bash" }),
    bad: tools({ type: 7, name: "memory" }),
    path: "tools[0].type",
    says: 'one of "custom", "bash_20250124", or "text_editor_<date>", or "web_search_<date>"; it is 7',
  },
];

describe("messages request tools", () => testRefusals(checkMessagesRequest, sound, rows));
