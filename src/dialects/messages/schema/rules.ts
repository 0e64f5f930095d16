import { isObject } from "../../../base/json.ts";
import { type CheckRules, refuse } from "../../reading/check.ts";
import { checkBase64 } from "../../reading/check-base64.ts";
import { ROUTING_FIELDS } from "../../reading/routing-fields.ts";
import { isAdvisor } from "../advisor.ts";
import { PRICED_FIELDS } from "../native.ts";
import type { CountTokensRequest, MessagesRequest } from "./request.ts";

/** The only version that the contract lists. */
const WEB_SEARCH = "web_search_20250305";

/**
 * Contract 5: the tool of the rejected beta cannot be used without the beta either, in any version. The drop-in door forwards it.
 */
const CODE_EXECUTION = /^\s*code_execution/i;

interface Block {
  type: string;
  source?: unknown;
  content?: unknown;
}

/** Images and documents, including those in tool results and in documents. `path` is only needed for errors. */
function checkData(blocks: unknown, path: () => string): void {
  if (!Array.isArray(blocks)) return;
  for (let index = 0; index < blocks.length; index++) {
    const { type, source, content } = blocks[index] as Block;
    if (isObject(source) && (type === "image" || type === "document")) {
      const { data } = source;
      if (source["type"] === "base64" && typeof data === "string") {
        checkBase64(data, () => `${path()}[${index}].source.data`);
      } else checkData(source["content"], () => `${path()}[${index}].source.content`);
    } else if (content !== undefined) checkData(content, () => `${path()}[${index}].content`);
  }
}

type Request = CountTokensRequest & Partial<Pick<MessagesRequest, "max_tokens">>;

export const messagesRules: CheckRules<Request> = {
  alsoRead: [...ROUTING_FIELDS, ...Object.keys(PRICED_FIELDS)],
  relations({ max_tokens, thinking, tools, messages }, { door }) {
    // When tokens are only counted, the limit is an unknown field and may have any value.
    const limit = typeof max_tokens === "number" ? max_tokens : undefined;
    if (thinking?.type === "enabled" && limit !== undefined && thinking.budget_tokens >= limit) {
      refuse("thinking.budget_tokens", `must be below max_tokens, which is ${limit}; it is ${thinking.budget_tokens}`);
    }
    for (let index = 0; index < messages.length; index++) {
      const content = messages[index]?.content;
      if (typeof content !== "string") checkData(content, () => `messages[${index}].content`);
    }
    tools?.forEach((tool, index) => {
      const type = "type" in tool ? tool.type : undefined;
      if (door === "contract" && typeof type === "string" && CODE_EXECUTION.test(type)) {
        refuse(
          `tools[${index}].type`,
          `must not be "${type}": the code-execution tool is not available here. Remove it from tools`,
        );
      }
      // Some hosts' tools call another model, which would be neither checked nor priced (S07).
      // The advisor's model is checked and billed like the requested one.
      if (type !== undefined && type !== "custom" && "model" in tool && !isAdvisor(type ?? undefined)) {
        refuse(`tools[${index}].model`, "is not supported: tools must not call other models. Remove it");
      }
      if (door === "contract" && type?.startsWith("web_search_") && type !== WEB_SEARCH) {
        refuse(`tools[${index}].type`, `must be "${WEB_SEARCH}"; it is "${type}"`);
      }
      if ("allowed_domains" in tool && tool.allowed_domains?.length && tool.blocked_domains?.length) {
        refuse(`tools[${index}].blocked_domains`, "cannot be combined with allowed_domains; send only one of them");
      }
    });
  },
};
