import { type Billable, WEB_SEARCH } from "../../canon/billable.ts";
import { addToolUse, type Usage } from "../../canon/usage.ts";
import { NO_TOOL_PRICES, type ToolPrices, toolCost } from "../../catalogue/tool-prices.ts";
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
  let counted = usage.tools === undefined ? usage : { ...usage, tools: variantsOf(usage.tools, billables, prices) };
  for (const { name, most, crossesAs = name } of sentBillables({ billables, attempt })) {
    const isUncounted = codec?.isUncounted?.(crossesAs) === true;
    if (!isUncounted && !(brokeOff && codec?.isCountedLast?.(crossesAs) === true)) continue;
    if (crossesAs === WEB_SEARCH) counted = { ...counted, searches: Math.max(1, counted.searches ?? 0) };
    else if (isUncounted) counted = addToolUse(counted, name, Math.max(1, most ?? prices.find(name)?.assumed ?? 1));
    else if (counted.tools?.[name] === undefined) counted = addToolUse(counted, name);
  }
  return counted;
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
    const asked = billables
      .map((billable) => billable.name)
      .filter((one) => one === name || one.startsWith(`${name}:`));
    const ran = asked.reduce((most, one) => (costOf(one) > costOf(most) ? one : most), asked[0] ?? name);
    counted = addToolUse(counted, ran, uses);
  }
  return counted.tools ?? tools;
}
