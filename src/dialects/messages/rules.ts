import { type CheckRules, refuse } from "../check.ts";
import type { CountTokensRequest, MessagesRequest } from "./schema.ts";

type Request = CountTokensRequest & Partial<Pick<MessagesRequest, "max_tokens">>;

export const messagesRules: CheckRules<Request> = {
  relations({ max_tokens, thinking, tools }) {
    if (thinking?.type === "enabled" && max_tokens !== undefined && thinking.budget_tokens >= max_tokens) {
      refuse(
        "thinking.budget_tokens",
        `must be below max_tokens, which is ${max_tokens}; it is ${thinking.budget_tokens}`,
      );
    }
    tools?.forEach((tool, index) => {
      if ("allowed_domains" in tool && tool.allowed_domains?.length && tool.blocked_domains?.length) {
        refuse(
          `tools[${index}].blocked_domains`,
          "must be left out beside allowed_domains: only one of the two may be given",
        );
      }
    });
  },
};
