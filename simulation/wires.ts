import type { ScriptedDialect } from "../testing/sampled-dialects.ts";
import { responses } from "./responses-speech.ts";
import { SAMPLED_WIRES, type Wire } from "./speech.ts";

export const WIRES: Readonly<Record<ScriptedDialect, Wire>> = { ...SAMPLED_WIRES, responses };
