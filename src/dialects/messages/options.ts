import type { FieldNote } from "../../canon/receipt.ts";
import { LONG_CONTEXT } from "../../canon/terms.ts";
import type { ForwardedOptions, OptionsTarget } from "../dialect.ts";
import type { MessagesQuirks } from "./quirks.ts";
import { refusedBy2026 } from "./version-2026.ts";

/** What a client requests in headers. */
export interface MessagesOptions {
  /** Names of features that are not yet in the protocol. */
  betas: readonly string[];
  /** An API version later than the first. */
  version?: string;
}

const NOTHING: ForwardedOptions = { options: undefined, terms: [] };

/**
 * Beta names are sent to hosts of this dialect that support them; otherwise they are dropped, with a note in the receipt. A later
 * API version is sent to hosts that know it. Others answer in the same format and accept more. At the contract door, a request may
 * contain what the contract lists and a later version rejects; it is sent with the previous version.
 */
export function forwardOptions(
  { betas, version }: MessagesOptions,
  target: OptionsTarget,
  notes: FieldNote[],
): ForwardedOptions {
  const quirks = target.via === "messages" ? (target.quirks as MessagesQuirks) : undefined;
  const fitted = betas.length === 0 ? NOTHING : forwardBetas(betas, quirks, target, notes);
  if (version === undefined || !quirks?.versions.includes(version)) return fitted;
  const refused = refusedBy2026(target.body);
  if (refused === undefined) {
    return { ...fitted, options: { betas: NO_BETAS, ...(fitted.options as Partial<MessagesOptions>), version } };
  }
  const { path, what } = refused;
  const shown = what === undefined ? path : `${path} (${what})`;
  const reason = `version ${version} does not accept ${shown}; the previous version was sent`;
  notes.push({ path: "anthropic-version", action: "approximated", reason });
  return fitted;
}

const NO_BETAS: readonly string[] = [];

/** The beta of `fallbacks`, which the gateway honours itself. Some hosts with betas reject it. */
const HONOURED = /^server-side-fallback-/;

function forwardBetas(
  betas: readonly string[],
  quirks: MessagesQuirks | undefined,
  target: OptionsTarget,
  notes: FieldNote[],
): ForwardedOptions {
  const others = quirks?.fallbackBlocks ? betas : betas.filter((beta) => !HONOURED.test(beta));
  if (others.length === 0) return NOTHING;
  if (quirks?.forwardBetas) return fitBetas(others, target);
  const reason = "this provider does not support beta headers";
  for (const beta of others) notes.push({ path: `beta ${beta}`, action: "dropped", reason });
  return NOTHING;
}

/** Betas that allow a longer prompt than the model normally accepts, at another price. */
export const isLongContextBeta = (beta: string): boolean => /^context-1m\b/i.test(beta);

/** A longer context costs more, unless the ordinary price covers it. */
function fitBetas(betas: readonly string[], { includesLongContext }: OptionsTarget): ForwardedOptions {
  return { options: { betas }, terms: !includesLongContext && betas.some(isLongContextBeta) ? [LONG_CONTEXT] : [] };
}
