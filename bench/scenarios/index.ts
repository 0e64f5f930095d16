import type { Scenario } from "../scenario.ts";
import { answers20Kb } from "./answers-20kb.ts";
import { burst } from "./burst.ts";
import { cadence } from "./cadence.ts";
import { firstByte } from "./first-byte.ts";
import { firstContent } from "./first-content.ts";
import { growth } from "./growth.ts";
import { limits } from "./limits.ts";
import { memory } from "./memory.ts";
import { peers } from "./peers.ts";
import { plan } from "./plan.ts";
import { responses } from "./responses.ts";
import { telemetry } from "./telemetry.ts";
import { translated300Kb } from "./translated-300kb.ts";
import { translatedChunks } from "./translated-chunks.ts";
import { unary1Kb } from "./unary-1kb.ts";
import { unary300Kb } from "./unary-300kb.ts";
import { workers } from "./workers.ts";

export const SCENARIOS: readonly Scenario[] = [
  unary1Kb,
  unary300Kb,
  answers20Kb,
  translated300Kb,
  limits,
  telemetry,
  cadence,
  burst,
  responses,
  translatedChunks,
  firstByte,
  firstContent,
  memory,
  growth,
  plan,
  workers,
  peers,
];
