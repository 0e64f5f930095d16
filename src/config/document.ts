import type { DocumentNode, Report } from "./document-node.ts";
import { readJsonDocument } from "./json-document.ts";
import { readPlainDocument } from "./plain-document.ts";
import { hideReferences } from "./variables.ts";

/** Reads YAML. Undefined when the text cannot be read as such; what is wrong has then been reported. */
export function readDocument(source: string, report: Report): DocumentNode | undefined {
  const hidden = hideReferences(source);
  return readJsonDocument(hidden) ?? readPlainDocument(hidden) ?? readAnyDocument(hidden, report);
}

/** Loaded where it is needed: its package takes 12 MB for as long as the gateway runs (docs/decisions/0071). */
function readAnyDocument(hidden: string, report: Report): DocumentNode | undefined {
  const { readYamlDocument } = require("./yaml-document.ts") as typeof import("./yaml-document.ts");
  return readYamlDocument(hidden, report);
}
