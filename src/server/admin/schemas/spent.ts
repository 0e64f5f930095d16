import { Type } from "../../../base/type.ts";

/** Nano-dollars in the current windows, in UTC. */
export const SpentMoney = Type.Object({
  day: Type.Integer(),
  week: Type.Integer({ description: "Since Monday." }),
  month: Type.Integer(),
  quarter: Type.Integer(),
  total: Type.Integer(),
});
