import type { Modality } from "../inspect-media.ts";
import { canonicalJson, type Json } from "../json.ts";
import type { CacheTtl, Prompt, PromptPart } from "./prompt.ts";
import { countTokens } from "./tokens.ts";

/** Tokens that a turn costs in addition to its parts. */
const TURN_TOKENS = 3;

/** A part of the prompt after which a cached prefix may end. */
export interface PromptUnit {
  /** The same content has the same key, in every protocol. */
  key: string;
  tokens: number;
  modality: Modality;
  cache?: CacheTtl;
  /** Only the head of a turn: no cached prefix ends with it. */
  head?: true;
}

function unit(key: string, tokens: number, modality: Modality, cache: CacheTtl | undefined): PromptUnit {
  return { key, tokens, modality, ...(cache === undefined ? {} : { cache }) };
}

function partUnits(part: PromptPart): PromptUnit[] {
  switch (part.type) {
    case "text":
      return [unit(`text ${part.text}`, countTokens(part.text), "TEXT", part.cache)];
    case "media":
      return [unit(`media ${part.media.fingerprint}`, part.media.tokens, part.media.modality, part.cache)];
    case "call": {
      const text = `${part.name} ${canonicalJson(part.input)}`;
      return [unit(`call ${text}`, countTokens(text), "TEXT", part.cache)];
    }
    case "result": {
      const media = part.media.map((one) => unit(`media ${one.fingerprint}`, one.tokens, one.modality, undefined));
      const text = `${part.name} ${part.failed} ${part.text}`;
      return [...media, unit(`result ${text}`, countTokens(part.text), "TEXT", part.cache)];
    }
    case "past":
      return [unit("past", countTokens(part.text), "TEXT", part.cache)];
  }
}

/** The whole prompt in the order in which hosts read it: tools, system, turns. */
export function promptUnits(prompt: Prompt): PromptUnit[] {
  const units: PromptUnit[] = [];
  for (const tool of prompt.tools) {
    const schema: Json = tool.schema ?? null;
    const text = `${tool.name} ${tool.description} ${canonicalJson(schema)}`;
    units.push(unit(`tool ${text}`, countTokens(text), "TEXT", tool.cache));
  }
  for (const block of prompt.system) {
    units.push(unit(`system ${block.text}`, countTokens(block.text), "TEXT", block.cache));
  }
  for (const turn of prompt.turns) {
    const head: PromptUnit = { ...unit(`turn ${turn.role}`, TURN_TOKENS, "TEXT", undefined), head: true };
    units.push(head, ...turn.parts.flatMap(partUnits));
  }
  return units;
}

export function totalTokens(units: readonly PromptUnit[]): number {
  return units.reduce((sum, one) => sum + one.tokens, 0);
}
