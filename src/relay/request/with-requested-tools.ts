import { type Billable, WEB_SEARCH } from "../../canon/billable.ts";
import { addToolUse, type Usage } from "../../canon/usage.ts";
import { type KnownTool, NO_TOOL_PRICES, type ToolPrices, toolCost } from "../../catalogue/tool-prices.ts";
import { type RequestedBillables, sentBillables } from "../settle/sent-billables.ts";

/** An attempt, and whether its response broke off after its first content. */
interface Worked extends RequestedBillables {
  brokeOff: boolean;
}

/**
 * Adds hosted tools that only the request shows: a tool that responses of the host's dialect do not count, a count that was still
 * to come, or the variant of a tool that they do not name.
 */
export function withRequestedTools({ billables, attempt, brokeOff }: Worked, usage: Usage): Usage {
  const { codec, toolPrices: prices = NO_TOOL_PRICES } = attempt?.target ?? {};
  const sent = sentBillables({ billables, attempt });
  let counted = usage.tools === undefined ? usage : { ...usage, tools: variantsOf(usage.tools, sent, prices) };
  for (const { name, most, crossesAs = name } of sent) {
    const isUncounted = codec?.isUncounted?.(crossesAs) === true;
    if (!isUncounted && !(brokeOff && codec?.isCountedLast?.(crossesAs) === true)) continue;
    if (crossesAs === WEB_SEARCH) counted = { ...counted, searches: Math.max(1, counted.searches ?? 0) };
    else if (isUncounted) counted = addToolUse(counted, name, Math.max(1, most ?? prices.find(name)?.assumed ?? 1));
    else if (counted.tools?.[name] === undefined) counted = addToolUse(counted, name);
  }
  return withSearchTool(counted, sent, prices);
}

/**
 * Searches that the host charges as a tool of their own: an older tool that costs more with some models, or once per response, however
 * many there were. Of several that were requested, the most expensive.
 */
function withSearchTool(usage: Usage, sent: readonly Billable[], prices: ToolPrices): Usage {
  const { searches = 0, ...others } = usage;
  if (searches === 0) return usage;
  let found: KnownTool | undefined;
  for (const { name, crossesAs = name } of sent) {
    if (crossesAs !== WEB_SEARCH) continue;
    const known = prices.find(name) ?? prices.find(WEB_SEARCH);
    if (known !== undefined && (found === undefined || toolCost(known, 1) > toolCost(found, 1))) found = known;
  }
  const isOwn =
    found !== undefined && (found.name !== WEB_SEARCH || found.charges.some(({ unit }) => unit === "session"));
  return found !== undefined && isOwn ? addToolUse(others, found.name, searches) : usage;
}

/** A tool that a response names plainly ran as a requested variant: of several, as the most expensive. */
function variantsOf(
  tools: NonNullable<Usage["tools"]>,
  billables: readonly Billable[],
  prices: ToolPrices,
): NonNullable<Usage["tools"]> {
  const costOf = (name: string): number => {
    const known = prices.find(name);
    return known === undefined ? Number.POSITIVE_INFINITY : toolCost(known, 1);
  };
  let counted: Usage = {};
  for (const [name, uses] of Object.entries(tools)) {
    const names = billables.map((billable) => billable.name);
    const beside = prices.variantBeside(name, names);
    if (beside !== name) {
      counted = addToolUse(counted, beside, uses);
      continue;
    }
    const asked = names.filter((one) => one === name || one.startsWith(`${name}:`));
    const ran = asked.reduce((most, one) => (costOf(one) > costOf(most) ? one : most), asked[0] ?? name);
    counted = addToolUse(counted, ran, uses);
  }
  return counted.tools ?? tools;
}
