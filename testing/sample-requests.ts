import { readdirSync, readFileSync } from "node:fs";
import { DIALECT_NAMES, type DialectName } from "../src/canon/dialect-name.ts";

export interface SampleRequest {
  dialect: DialectName;
  /** The file's name without its ending. */
  name: string;
  text: string;
}

const FIXTURES = new URL("../fixtures/", import.meta.url);

/** The requests of a folder of fixtures, which has one folder for each dialect. */
export function sampleRequests(folder: "every-field" | "matrix"): SampleRequest[] {
  return DIALECT_NAMES.flatMap((dialect) => {
    const place = new URL(`${folder}/${dialect}/`, FIXTURES);
    const files = readdirSync(place)
      .filter((file) => file.endsWith(".json"))
      .sort();
    return files.map((file) => ({
      dialect,
      name: file.replace(/\.json$/, ""),
      text: readFileSync(new URL(file, place), "utf8"),
    }));
  });
}
