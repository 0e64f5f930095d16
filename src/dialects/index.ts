import type { DialectName } from "../canon/dialect-name.ts";
import { chat } from "./chat/index.ts";
import type { Dialect } from "./dialect.ts";
import { genai } from "./genai/index.ts";
import { messages } from "./messages/index.ts";

export const DIALECTS: Readonly<Record<DialectName, Dialect>> = { chat, messages, genai };
