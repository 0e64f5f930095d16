import {
  describeTextModel,
  SIMULATED_TEXT_MODELS,
  type SimulatedTextModel,
} from "../../src/catalogue/simulated-models.ts";
import { traitsOf } from "./traits.ts";

/** The model of that name, its number filled in where it has one; `undefined` if there is none. */
export function findModel(name: string): SimulatedTextModel | undefined {
  const listed = SIMULATED_TEXT_MODELS.find((model) => model.name === name);
  if (listed !== undefined) return listed;
  return traitsOf(name) === undefined ? undefined : describeTextModel(name, "a listed behaviour with another number");
}
