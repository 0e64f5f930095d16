import { type Billable, WEB_SEARCH } from "../canon/billable.ts";
import { addToolUse, type Usage } from "../canon/usage.ts";
import { type Asked, sentBillables } from "./sent-billables.ts";

/** An attempt, and whether its answer broke off after its first content. */
interface Worked extends Asked {
  brokeOff: boolean;
}

/**
 * The usage with what only the request tells of hosted tools: that one was used, where answers of the host's dialect do not count it or
 * where the count was still to come, and which variant of a tool ran, where they do not name it.
 */
export function withRequestedTools({ billables, attempt, brokeOff }: Worked, usage: Usage): Usage {
  let counted = usage.tools === undefined ? usage : { ...usage, tools: variantsOf(usage.tools, billables) };
  const codec = attempt?.target?.codec;
  for (const { name, crossesAs = name } of sentBillables({ billables, attempt })) {
    const isUncounted = codec?.isUncounted?.(crossesAs) === true;
    if (!isUncounted && !(brokeOff && codec?.isCountedLast?.(crossesAs) === true)) continue;
    if (crossesAs === WEB_SEARCH) counted = { ...counted, searches: Math.max(1, counted.searches ?? 0) };
    else if (isUncounted || counted.tools?.[name] === undefined) counted = addToolUse(counted, name);
  }
  return counted;
}

/** A tool that an answer calls by its plain name ran as the one variant that was asked for. */
function variantsOf(tools: NonNullable<Usage["tools"]>, billables: readonly Billable[]): NonNullable<Usage["tools"]> {
  return Object.fromEntries(
    Object.entries(tools).map(([name, uses]) => {
      const variants = billables.filter((billable) => billable.name.startsWith(`${name}:`));
      return [variants.length === 1 ? (variants[0]?.name ?? name) : name, uses];
    }),
  );
}
