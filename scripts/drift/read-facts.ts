import type { Shape } from "../../testing/sdk-types/declared-type.ts";
import { readPython } from "../../testing/sdk-types/read-python.ts";
import { readTypeScript } from "../../testing/sdk-types/read-typescript.ts";
import { Facts, VENDORS } from "./fact.ts";
import { SUBJECTS, type Subject } from "./protocols.ts";
import { type Language, surveySources } from "./source-names.ts";
import { type Context, survey } from "./survey.ts";

/** What the SDKs of one language declare. */
export interface Declared {
  readonly language: Language;
  readonly facts: Facts;
  /** Types that were not found. The vendor renamed them, and everything in them was not compared. */
  readonly missing: readonly string[];
}

/** Reads the SDKs in a `node_modules`. `edit` changes a file before it is read. */
export async function readTypeScriptFacts(
  folder: string,
  edit?: (file: string) => string | undefined,
): Promise<Declared> {
  const roots = SUBJECTS.map(({ typescript }) => typescript);
  return factsOf("TypeScript", folder, await readTypeScript(folder, roots, edit));
}

/** The only module whose names differ from those on the wire. */
const CAMEL = "google/genai/types.py";

/** Reads the SDKs in a folder of unpacked wheels. */
export function readPythonFacts(folder: string): Declared {
  const shapes = new Map<Subject, Shape | undefined>();
  for (const camel of [true, false]) {
    const subjects = SUBJECTS.filter(({ python }) => (python.file === CAMEL) === camel);
    const roots = subjects.map(({ python }) => python);
    for (const [index, shape] of readPython(folder, roots, { camel }).entries()) {
      const subject = subjects[index];
      if (subject !== undefined) shapes.set(subject, shape);
    }
  }
  return factsOf(
    "Python",
    folder,
    SUBJECTS.map((subject) => shapes.get(subject)),
  );
}

function factsOf(language: Language, folder: string, shapes: readonly (Shape | undefined)[]): Declared {
  const facts = new Facts();
  const missing: string[] = [];
  for (const [index, subject] of SUBJECTS.entries()) {
    const shape = shapes[index];
    const { file, type } = language === "Python" ? subject.python : subject.typescript;
    if (shape === undefined) missing.push(`${type} in ${file}`);
    else survey(shape, subject, contextOf(subject, shapes), facts);
  }
  for (const vendor of VENDORS) surveySources(folder, language, vendor, facts);
  return { language, facts, missing };
}

function contextOf({ vendor, protocol }: Subject, shapes: readonly (Shape | undefined)[]): Context {
  const typesOf = (side: Subject["side"]) =>
    SUBJECTS.flatMap((subject, index) =>
      subject.vendor === vendor && subject.protocol === protocol && subject.side === side
        ? [...(shapes[index]?.types ?? [])]
        : [],
    );
  return {
    answers: new Set(typesOf("answer")),
    requested: new Set(typesOf("request").flatMap(({ members }) => [...members.keys()])),
  };
}
