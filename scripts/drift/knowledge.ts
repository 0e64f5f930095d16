import type { TSchema } from "typebox";
import type { Kind } from "./fact.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** What the gateway knows of one protocol. Questions without an answer here are left to the vocabulary. */
export interface Knowledge {
  /** Of requests. It decides wherever it lists fields, kinds or values. */
  readonly schema?: TSchema;
  readonly vocabulary: Vocabulary;
  /** Types whose members are kinds, of which an object has one. */
  readonly kindsIn?: Readonly<Record<string, Kind>>;
  /** Members that belong to the SDK, which keeps or converts them. */
  readonly ofLibrary?: RegExp;
  /** Whether the price table has a tool. */
  tool?(name: string): boolean;
  /** Tools whose use an item or block of a response shows. */
  toolsOf?(kind: string): readonly string[];
  /** Whether the terms that a field's value requests are ordinary or in the price table; undefined if the field requests none. */
  tier?(field: string, word: string): boolean | undefined;
  event?(type: string): boolean;
  stop?(word: string): boolean;
  /** Whether the reader of usage counts a number at this path below `usage`, or below the response, or knows that it is not billed. */
  counter?(path: string): boolean;
  /** Whether the reader of usage knows entries of this kind in a list or object below `usage`. */
  entry?(path: string, kind: string): boolean;
}
