/** Prefixes of generated item ids. */
const PREFIXES: Readonly<Record<string, string>> = {
  message: "msg",
  reasoning: "rs",
  function_call: "fc",
  function_call_output: "fco",
  custom_tool_call: "ctc",
  custom_tool_call_output: "ctco",
};

/** What the ids of items of this type begin with. */
export const itemPrefix = (type: unknown): string => PREFIXES[String(type ?? "message")] ?? "item";
