import { arrayAt, isObject, type JsonObject, numberAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { Billable } from "../../canon/billable.ts";
import { LONG_CONTEXT } from "../../canon/terms.ts";
import { billableTool, billableTools, type ReadTool, staying } from "../reading/billable-tools.ts";
import { askedTerms } from "../reading/priced-fields.ts";
import { isAdvisor } from "./advisor.ts";
import { PRICED_FIELDS } from "./native.ts";
import { addedTool } from "./native-words.ts";
import { isLongContextBeta, type MessagesOptions } from "./options.ts";

/** Everything in a request that can cost money besides ordinary tokens. */
export function billables(body: JsonObject, { betas }: MessagesOptions): readonly Billable[] {
  // The advisor costs what its model's tokens cost.
  const listed = billableTools(body["tools"], "tools", read);
  const tools = listed.length === 0 ? listed : listed.filter(({ name }) => !isAdvisor(name));
  const added = addedBillables(body);
  const terms = askedTerms(body, PRICED_FIELDS);
  const beta = betas.find(isLongContextBeta);
  if (terms.length + added.length === 0 && beta === undefined) return tools;
  const long: Billable[] = beta === undefined ? [] : [{ kind: "term", name: LONG_CONTEXT, path: `beta ${beta}` }];
  return [...tools, ...added, ...terms, ...long];
}

const read: ReadTool = (tool, type) => {
  const most = numberAt(tool, "max_uses");
  return withoutAbsent({ name: type, most });
};

/** Tools that blocks of the conversation define, including those that a compaction kept (H51, H52). */
function addedBillables(body: JsonObject): readonly Billable[] {
  let found: Billable[] | undefined;
  const messages = arrayAt(body, "messages");
  for (let turn = 0; turn < messages.length; turn++) {
    const blocks = arrayAt(messages[turn], "content");
    for (let index = 0; index < blocks.length; index++) {
      const block = blocks[index];
      const type = stringAt(block, "type");
      if (type !== "tool_addition" && type !== "compaction") continue;
      const path = `messages[${turn}].content[${index}]`;
      found ??= [];
      if (type === "tool_addition") found.push(...additionAt(block, path));
      else for (const tool of changesAt(block, path)) found.push(staying(tool));
    }
  }
  return found ?? NONE;
}

const changesAt = (compaction: unknown, path: string): readonly Billable[] =>
  arrayAt(compaction, "tool_changes").flatMap((change, index) => additionAt(change, `${path}.tool_changes[${index}]`));

function additionAt(block: unknown, path: string): readonly Billable[] {
  const definition = isObject(block) ? addedTool(block) : undefined;
  return definition === undefined ? NONE : billableTool(definition, `${path}.tool.definition`, read);
}

const NONE: readonly Billable[] = [];
