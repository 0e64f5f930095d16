import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { DIALECT_OF, nameOf, present, recordings, requestOf } from "../../testing/recordings.ts";
import { sampleRequests } from "../../testing/sample-requests.ts";
import {
  CAPABLE_TARGETS,
  checkedRequest,
  EVERY_TARGET,
  REASONING_TARGETS,
  type Target,
  wireText,
} from "../../testing/translate-sample.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { DialectName } from "../canon/dialect-name.ts";
import { outlineJson } from "../wire/long-texts.ts";
import { DIALECTS, UPSTREAM_CODECS } from "./index.ts";
import { refusalOf } from "./reading/refusal-table.ts";

/** Every text counts as a long one, so that requests need not be long. */
const LONG = 1;
const TARGETS = [...EVERY_TARGET, ...REASONING_TARGETS, ...CAPABLE_TARGETS];

interface Request {
  dialect: DialectName;
  name: string;
  text: string;
}

/** A request, and the same with stubs in place of its texts. Undefined if a request like it has no outline. */
function readTwice({ dialect, text }: Request) {
  const { codec, requests } = DIALECTS[dialect];
  const outline = requests.texts && outlineJson(Buffer.from(text), LONG);
  if (requests.texts === undefined || outline === undefined) return undefined;
  const body = JSON.parse(outline.text) as JsonObject;
  outline.texts.restore(body, requests.texts);
  const call = codec.decodeRequest(body);
  if (call.format !== undefined) return undefined;
  return { body, call, whole: codec.decodeRequest(JSON.parse(text) as JsonObject), texts: outline.texts };
}

function expectSame(request: Request, targets: readonly Target[] = TARGETS): boolean {
  const read = readTwice(request);
  if (read === undefined) return false;
  for (const { dialect, context } of targets) {
    const encode = (call: typeof read.call) => {
      try {
        return UPSTREAM_CODECS[dialect].encodeRequest(call, context);
      } catch (error) {
        return { body: {}, notes: [], reading: {}, error: String(error) };
      }
    };
    const { body, ...rest } = encode(read.call);
    const { body: wanted, ...others } = encode(read.whole);
    expect(JSON.parse(read.texts.fill(wireText(body)).toString())).toEqual(JSON.parse(wireText(wanted)));
    expect(rest).toEqual(others);
  }
  return JSON.stringify(read.body) !== JSON.stringify(JSON.parse(request.text));
}

const normal = (request: Request): Request => ({
  ...request,
  text: wireText(checkedRequest(request.dialect, request.text, "dropin")),
});

const samples: readonly Request[] = [...sampleRequests("matrix"), ...sampleRequests("every-field")].map(normal);

describe("a request with stubs for its texts is translated like the request itself", () => {
  test.each(samples.map((sample) => [`${sample.dialect}/${sample.name}`, sample] as const))("%s", (_, sample) => {
    expectSame(sample);
  });

  test.each(["chat", "messages", "genai", "responses"] as const)("many samples of %s have stubs", (dialect) => {
    const own = samples.filter((sample) => sample.dialect === dialect);
    const stubbed = own.filter((sample) => expectSame(sample, EVERY_TARGET.slice(0, 1)));
    expect(stubbed.length).toBeGreaterThan(own.length / 3);
  });

  test.skipIf(!present)("every recording", () => {
    let stubbed = 0;
    for (const recording of recordings) {
      const body = requestOf(recording);
      const request = {
        dialect: DIALECT_OF[recording.dialect] ?? "chat",
        name: nameOf(recording),
        text: JSON.stringify({ model: "m", ...body }),
      };
      const isSound = refusalOf(() => normal(request), undefined) === undefined;
      if (body !== undefined && isSound && expectSame(normal(request))) stubbed++;
    }
    expect(stubbed).toBeGreaterThan(50);
  });

  test("with other texts", () => {
    fc.assert(
      fc.property(fc.constantFrom(...samples), fc.array(text, { minLength: 1, maxLength: 8 }), (sample, texts) => {
        expectSame({ ...sample, text: withTexts(sample.text, texts) }, [...EVERY_TARGET]);
      }),
      { numRuns: 400 },
    );
  }, 60_000);
});

const TEXT_KEYS: ReadonlySet<string> = new Set(["text", "content", "output", "result", "system", "input"]);

/** JSON strings, as different clients write them. */
const text = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 12 }).map((one) => JSON.stringify(one).slice(1, -1)),
      fc.constantFrom(
        " ",
        "\\n",
        "\\t",
        "\\u00a0",
        "\\u3000",
        "\\/",
        "\\ud800",
        "\\u00E9",
        "é",
        "👍",
        "\\\\",
        '\\"',
        "x",
      ),
      fc.constantFrom("{", "[", '{\\"a\\":1}', "<system>", "data:image/png;base64,AAAA", "json", "plain words"),
    ),
    { maxLength: 8 },
  )
  .map((pieces) => `"${pieces.join("")}"`);

/** The same JSON with these texts in turn, in place of those that may be texts of messages. */
function withTexts(json: string, texts: readonly string[]): string {
  const marks: string[] = [];
  const marked = JSON.stringify(JSON.parse(json), (key, value: unknown) => {
    if (typeof value !== "string" || !TEXT_KEYS.has(key) || isObject(value)) return value;
    marks.push(texts[marks.length % texts.length] ?? '""');
    return `\u0001${marks.length - 1}\u0001`;
  });
  return marked.replace(/"\\u0001(\d+)\\u0001"/g, (_, index: string) => marks[Number(index)] ?? '""');
}
