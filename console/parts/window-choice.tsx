import { RANGE_NAMES, type RangeName } from "../state/range.ts";
import { place, setQuery } from "../state/router.ts";
import { Choice } from "./basics.tsx";

/** The window of pages whose figures the API has only up to now. */
export const currentWindow = (usual: RangeName): RangeName =>
  RANGE_NAMES.find((name) => name === place.value.query.get("range")) ?? usual;

export const WindowChoice = ({ window }: { window: RangeName }) => (
  <Choice
    label="Range"
    value={window}
    options={RANGE_NAMES.map((name) => ({ value: name, name }))}
    onChange={(range) => setQuery({ range, from: undefined, to: undefined }, true)}
  />
);
