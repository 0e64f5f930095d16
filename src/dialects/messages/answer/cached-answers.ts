import { arrayAt, type JsonObject, stringAt } from "../../../base/json.ts";
import type { CachedAnswers } from "../../answer/cached-answers.ts";
import { isAdvisor } from "../advisor.ts";

export const cachedAnswers: CachedAnswers = {
  ignored: { metadata: "identifies the end user, for reports of abuse" },
  asksOthers: (body: JsonObject) =>
    body["mcp_servers"] != null ||
    body["container"] != null ||
    arrayAt(body, "tools").some((tool) => isAdvisor(stringAt(tool, "type"))),
  ids: [["id"], ["message", "id"]],
  times: [],
};
