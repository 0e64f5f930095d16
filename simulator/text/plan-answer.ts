import type { Modality } from "../inspect-media.ts";
import { Seed } from "../seed.ts";
import { agentSteps } from "./agent.ts";
import {
  hugeAnswer,
  refusalText,
  searchAnswer,
  shorten,
  standardAnswer,
  thinkingText,
  toolResultAnswer,
} from "./answer-text.ts";
import type { Plan, PlannedStop, Segment, Span } from "./plan.ts";
import { textOfSpans } from "./plan.ts";
import type { CacheCount } from "./prefix-cache.ts";
import { lastUserText, type Prompt, textOf } from "./prompt.ts";
import { type PromptUnit, promptUnits, totalTokens } from "./prompt-units.ts";
import { schemaInstance } from "./schema-instance.ts";
import { searchResults } from "./search-results.ts";
import { countTokens, tokenize } from "./tokens.ts";
import { planCalls, wordsOf } from "./tool-calls.ts";
import type { Traits } from "./traits.ts";

/** The `max-tokens` model reaches its limit after this many tokens. */
const SHORT_ANSWER_TOKENS = 12;

interface PlanRequest {
  prompt: Prompt;
  traits: Traits;
  maxOutputTokens: number;
  /** Throws where the prompt is too long for the model: before anything is made of it. */
  checkLength: (tokens: number) => void;
  /** Counts cached tokens; each protocol has its own rule. */
  countCached: (units: readonly PromptUnit[]) => CacheCount;
  /** What the `echo` answer says. */
  echo: string;
}

/**
 * The model's name is no part of the seed: a faulty model begins the same answer that `standard` would finish. Nor are
 * past thoughts, and how a text is cut into parts: protocols differ in both, and the answer must not.
 */
function seedOf(prompt: Prompt, units: readonly PromptUnit[]): Seed {
  const keys: string[] = [];
  /** Consecutive texts, joined once at the end: joining each would be quadratic. */
  let texts: string[] = [];
  const endTexts = (): void => {
    if (texts.length > 0) keys.push(`text ${texts.join("")}`);
    texts = [];
  };
  for (const { key } of units) {
    if (key === "past" || key === "text ") continue;
    if (key.startsWith("text ")) texts.push(key.slice("text ".length));
    else {
      endTexts();
      keys.push(key);
    }
  }
  endTexts();
  return new Seed(JSON.stringify([keys, prompt.format, prompt.choice]));
}

function formattedAnswer(prompt: Prompt, seed: Seed): string | undefined {
  const said = lastUserText(prompt);
  switch (prompt.format.type) {
    case "schema":
      return JSON.stringify(schemaInstance(prompt.format.schema, seed.derive("schema"), wordsOf(said)));
    case "json":
      return JSON.stringify({ simulated: true, question: shorten(said), turns: prompt.turns.length });
    case "enum":
      return prompt.format.values[seed.number("enum", Math.max(1, prompt.format.values.length))] ?? "";
    case "text":
      return undefined;
  }
}

function plainAnswer(prompt: Prompt, seed: Seed): string {
  const afterTools = prompt.turns.at(-1)?.parts.some((part) => part.type === "result") ?? false;
  return formattedAnswer(prompt, seed) ?? (afterTools ? toolResultAnswer(prompt, seed) : standardAnswer(prompt, seed));
}

/** A final assistant turn is continued if it is a prefix of our response. */
function continuedAnswer(prompt: Prompt): string | undefined {
  const last = prompt.turns.at(-1);
  const begun = last?.parts.map((part) => (part.type === "text" ? part.text : "")).join("") ?? "";
  if (last?.role !== "assistant" || begun === "") return undefined;
  const before = { ...prompt, turns: prompt.turns.slice(0, -1) };
  const whole = plainAnswer(before, seedOf(before, promptUnits(before)));
  return whole.startsWith(begun) ? whole.slice(begun.length) : ` ${whole}`;
}

function planSegments(request: PlanRequest, seed: Seed): Segment[] {
  const { prompt, traits } = request;
  const answer = (text: string): Segment[] => (text === "" ? [] : [{ type: "text", spans: [{ text }] }]);
  if (traits.answer === "empty" || traits.answer === "blocked") return [];
  if (traits.answer === "refusal") return answer(refusalText());
  if (traits.answer === "huge") return answer(hugeAnswer());
  if (traits.answer === "echo") return answer(request.echo);
  const said = lastUserText(prompt);
  const thinking: Segment[] = prompt.thinking === "off" ? [] : [{ type: "thinking", text: thinkingText(prompt, seed) }];
  if (thinking.length > 0 && /redact/i.test(said))
    thinking.push({ type: "redacted", text: `On “${shorten(said, 40)}”.` });
  const steps = traits.answer === "agent" ? agentSteps(prompt, seed.derive("agent")) : undefined;
  if (steps !== undefined) return [...thinking, ...steps];
  const calls = planCalls(prompt, seed, traits.quirk === "parallel-same-index");
  if (calls.length > 0 && traits.answer === undefined) return [...thinking, ...calls];
  if (prompt.search && prompt.format.type === "text" && /\bsearch/i.test(textOf(prompt.turns.at(-1)))) {
    const query = shorten(said, 80);
    const results = searchResults(query);
    return [...thinking, { type: "search", query, results }, { type: "text", spans: searchAnswer(results) }];
  }
  return [...thinking, ...answer(continuedAnswer(prompt) ?? plainAnswer(prompt, seed))];
}

/** The first index at which any of the sequences begins. */
function firstStop(text: string, sequences: readonly string[]): { at: number; sequence: string } | undefined {
  let found: { at: number; sequence: string } | undefined;
  for (const sequence of sequences) {
    const at = sequence === "" ? -1 : text.indexOf(sequence);
    if (at >= 0 && (found === undefined || at < found.at)) found = { at, sequence };
  }
  return found;
}

function cutSpans(spans: readonly Span[], length: number): Span[] {
  let left = length;
  return spans.flatMap((span) => {
    const text = span.text.slice(0, left);
    left -= text.length;
    return text === "" ? [] : [{ ...span, text }];
  });
}

interface Limited {
  segments: Segment[];
  stop: PlannedStop;
  stopSequence?: string;
  output: number;
  reasoning: number;
}

/** Walks the segments in order, and ends at a stop sequence or when the allowance of tokens is used up. */
function applyLimits(segments: readonly Segment[], sequences: readonly string[], allowance: number): Limited {
  const limited: Limited = { segments: [], stop: "end", output: 0, reasoning: 0 };
  const left = (): number => allowance - limited.output - limited.reasoning;
  for (const segment of segments) {
    if (segment.type === "search") {
      limited.segments.push(segment);
    } else if (segment.type === "call") {
      const tokens = countTokens(`${segment.name} ${JSON.stringify(segment.input)}`);
      if (tokens > left()) return { ...limited, stop: "length" };
      limited.output += tokens;
      limited.stop = "tool";
      limited.segments.push(segment);
    } else if (segment.type === "text") {
      const text = textOfSpans(segment.spans);
      const stop = firstStop(text, sequences);
      const spoken = text.slice(0, stop?.at ?? text.length);
      const tokens = tokenize(spoken);
      const kept = tokens.slice(0, Math.max(0, left())).join("");
      limited.output += Math.min(tokens.length, Math.max(0, left()));
      if (kept !== "") limited.segments.push({ type: "text", spans: cutSpans(segment.spans, kept.length) });
      if (kept.length < spoken.length) return { ...limited, stop: "length" };
      if (stop !== undefined) return { ...limited, stop: "sequence", stopSequence: stop.sequence };
    } else {
      const tokens = tokenize(segment.text);
      const kept = tokens.slice(0, Math.max(0, left()));
      limited.reasoning += kept.length;
      limited.segments.push({ ...segment, text: kept.join("") });
      if (kept.length < tokens.length) return { ...limited, stop: "length" };
    }
  }
  return limited;
}

function countModalities(units: readonly PromptUnit[], storedTokens: number): Map<Modality, number> {
  const counts = new Map<Modality, number>([["TEXT", storedTokens]]);
  for (const unit of units) counts.set(unit.modality, (counts.get(unit.modality) ?? 0) + unit.tokens);
  return counts;
}

/** Decides the whole answer. Pure but for the prefix cache, which changes usage only. */
export function planAnswer(request: PlanRequest): Plan {
  const { prompt, traits } = request;
  const units = promptUnits(prompt);
  request.checkLength(totalTokens(units) + prompt.storedTokens);
  const seed = seedOf(prompt, units);
  const wanted = Math.min(prompt.maxTokens ?? request.maxOutputTokens, request.maxOutputTokens);
  const endless = traits.answer === "huge" || traits.answer === "echo";
  const allowance = traits.answer === "max-tokens" ? Math.min(wanted, SHORT_ANSWER_TOKENS) : wanted;
  const segments = planSegments(request, seed);
  const limited = applyLimits(segments, endless ? [] : prompt.stop, endless ? Number.POSITIVE_INFINITY : allowance);
  const stops: Partial<Record<string, PlannedStop>> = { refusal: "refusal", blocked: "blocked" };
  const cached = request.countCached(units);
  const search = limited.segments.find((segment) => segment.type === "search");
  const quotes = search?.results.map((result) => `${result.title} ${result.url} ${result.quote}`).join(" ") ?? "";
  return {
    seed,
    segments: limited.segments,
    stop: stops[traits.answer ?? ""] ?? limited.stop,
    ...(limited.stopSequence === undefined ? {} : { stopSequence: limited.stopSequence }),
    usage: {
      input: totalTokens(units) + prompt.storedTokens,
      byModality: countModalities(units, prompt.storedTokens),
      cacheRead: cached.read + prompt.storedTokens,
      cacheWrite5m: cached.write5m,
      cacheWrite1h: cached.write1h,
      output: limited.output,
      reasoning: limited.reasoning,
      searches: search === undefined ? 0 : 1,
      searchInput: countTokens(quotes),
    },
  };
}
