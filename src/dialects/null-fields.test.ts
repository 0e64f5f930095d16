import { describe, expect, test } from "bun:test";
import { type SampleRequest, sampleRequests } from "../../testing/sample-requests.ts";
import { checkedRequest, EVERY_TARGET, translate, wireText } from "../../testing/translate-sample.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { DIALECT_NAMES, type DialectName } from "../canon/dialect-name.ts";
import { GatewayError } from "../canon/error.ts";
import { DIALECTS } from "./index.ts";
import { quirksOf } from "./quirks.ts";
import type { Door } from "./reading/check.ts";

/** Clients serialize unset fields as null, at any depth. A null never makes the gateway itself fail (decision 0026). */

const SAMPLES = [...sampleRequests("matrix"), ...sampleRequests("every-field")];
const DOORS: readonly Door[] = ["contract", "dropin"];

type Path = readonly (string | number)[];

/** Every object inside a value, with its path. */
function* objectsIn(value: unknown, path: Path = []): Generator<{ object: JsonObject; path: Path }> {
  if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* objectsIn(item, [...path, index]);
  if (!isObject(value)) return;
  yield { object: value, path };
  for (const [key, member] of Object.entries(value)) yield* objectsIn(member, [...path, key]);
}

/** A copy of a body with the object at a path changed. */
function withObject(value: unknown, path: Path, change: (object: JsonObject) => JsonObject): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return isObject(value) ? change(value) : value;
  if (Array.isArray(value)) return value.with(Number(key), withObject(value[Number(key)], rest, change));
  return isObject(value) ? { ...value, [key]: withObject(value[key], rest, change) } : value;
}

/** What only the protocol's hosts know is sent back to them unchanged. */
function withoutNullMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNullMembers);
  if (!isObject(value)) return value;
  const present = Object.entries(value).filter(([, member]) => member !== null);
  // Their order is irrelevant, because the nulls came before all others.
  return Object.fromEntries(present.map(([key, member]) => [key, withoutNullMembers(member)] as const).sort());
}

/** The name of the member that holds an object, or the array it is in. */
const holderOf = (path: Path): string => String(path.findLast((key) => typeof key === "string") ?? "");

/** The translations of a request, or undefined if it is rejected. Any other exception fails the test. */
async function outcome(dialect: DialectName, body: unknown, door: Door): Promise<readonly string[] | undefined> {
  try {
    const checked = checkedRequest(dialect, JSON.stringify(body), door);
    const { native } = DIALECTS[dialect];
    const text = JSON.stringify(checked);
    native.prepareRequest(
      { text, body: checked },
      {
        upstreamModel: "model",
        stream: false,
        door,
        maxOutputTokens: 64_000,
        reasons: true,
        quirks: quirksOf(dialect),
        knownEfforts: undefined,
      },
    );
    const sent = await Promise.all(EVERY_TARGET.map((target) => translate(dialect, checked, target)));
    return sent.map(({ body: made, notes }) => wireText({ made: withoutNullMembers(made), notes }));
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

/** Members that a dialect's samples have inside a holder of one name. */
function membersByHolder(dialect: DialectName): ReadonlyMap<string, ReadonlySet<string>> {
  const members = new Map<string, Set<string>>();
  for (const sample of SAMPLES.filter((one) => one.dialect === dialect)) {
    for (const { object, path } of objectsIn(JSON.parse(sample.text))) {
      const known = members.get(holderOf(path)) ?? new Set();
      for (const key of Object.keys(object)) known.add(key);
      members.set(holderOf(path), known);
    }
  }
  return members;
}

/** Objects whose members all belong to the protocol rather than the client. */
const PROTOCOL_HOLDERS: Readonly<Record<DialectName, readonly string[]>> = {
  chat: ["", "messages", "content", "image_url", "input_audio", "file", "tool_calls", "function", "tools"],
  messages: ["messages", "content", "source", "tools", "system", "cache_control"],
  genai: ["contents", "parts", "inlineData", "fileData", "generationConfig", "thinkingConfig"],
  responses: ["", "input", "content", "output", "tools", "text", "reasoning"],
  interactions: ["", "content", "generation_config"],
};

const nameOf = ({ dialect, name }: SampleRequest): string => `${dialect}/${name}`;

describe("null means absent", () => {
  test.each(SAMPLES.map((sample) => [nameOf(sample), sample] as const))(
    "%s: null instead of any member is accepted or rejected, and never crashes",
    async (_, { dialect, text }) => {
      const body = JSON.parse(text) as JsonObject;
      for (const { object, path } of objectsIn(body)) {
        for (const key of Object.keys(object)) {
          const changed = withObject(body, path, (held) => ({ ...held, [key]: null }));
          for (const door of DOORS) await outcome(dialect, changed, door);
        }
      }
    },
  );

  for (const dialect of DIALECT_NAMES) {
    const members = membersByHolder(dialect);
    test.each(SAMPLES.filter((one) => one.dialect === dialect).map((sample) => [nameOf(sample), sample] as const))(
      "%s: additional null members change nothing",
      async (_, { text }) => {
        const body = JSON.parse(text) as JsonObject;
        for (const door of DOORS) {
          const plain = await outcome(dialect, body, door);
          for (const { path } of objectsIn(body)) {
            const holder = holderOf(path);
            if (!PROTOCOL_HOLDERS[dialect].includes(holder)) continue;
            const nulls = Object.fromEntries([...(members.get(holder) ?? [])].map((key) => [key, null]));
            const padded = withObject(body, path, (held) => ({ ...nulls, ...held }));
            expect({ path, door, sent: await outcome(dialect, padded, door) }).toEqual({ path, door, sent: plain });
          }
        }
      },
    );
  }
});
