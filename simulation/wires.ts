import type { DialectName } from "../src/canon/dialect-name.ts";
import { responses } from "./responses-speech.ts";
import { SAMPLED_WIRES, type Wire } from "./speech.ts";

export const WIRES: Readonly<Record<DialectName, Wire>> = { ...SAMPLED_WIRES, responses };
