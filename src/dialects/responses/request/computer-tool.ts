import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../../base/json.ts";
import type { BuiltInTool } from "./built-in-tool.ts";

const POINT = { x: { type: "integer" }, y: { type: "integer" } };

const BUTTONS = ["left", "right", "wheel", "back", "forward"];

const isPoint = (value: unknown): boolean => numberAt(value, "x") !== undefined && numberAt(value, "y") !== undefined;

const isTexts = (values: readonly unknown[]): boolean =>
  values.length > 0 && values.every((value) => typeof value === "string");

/** By type: the action as the client expects it; undefined if something is missing. */
const ACTIONS: Readonly<Record<string, (action: JsonObject) => JsonObject | undefined>> = {
  click: (action) => {
    const button = stringAt(action, "button") ?? "left";
    return isPoint(action) && BUTTONS.includes(button) ? { ...action, button } : undefined;
  },
  double_click: (action) => (isPoint(action) ? { keys: null, ...action } : undefined),
  drag: (action) => {
    const path = arrayAt(action, "path");
    return path.length > 1 && path.every(isPoint) ? action : undefined;
  },
  keypress: (action) => (isTexts(arrayAt(action, "keys")) ? action : undefined),
  move: (action) => (isPoint(action) ? action : undefined),
  screenshot: (action) => action,
  scroll: (action) => (isPoint(action) ? { scroll_x: 0, scroll_y: 0, ...action } : undefined),
  type: (action) => (stringAt(action, "text") === undefined ? undefined : action),
  wait: (action) => action,
};

function actionOf(value: unknown): JsonObject | undefined {
  const type = stringAt(value, "type");
  return type === undefined || !isObject(value) ? undefined : ACTIONS[type]?.(value);
}

const actionsIn = (item: JsonObject): readonly unknown[] => {
  const [single, list] = [objectAt(item, "action"), arrayAt(item, "actions")];
  return list.length === 0 && single !== undefined ? [single] : list;
};

/** The screen, mouse and keyboard of the client. Results are screenshots. No other host checks calls for safety, so none is pending. */
export const COMPUTER: BuiltInTool = {
  name: "computer",
  description:
    "Uses the mouse and keyboard of a computer, and returns a screenshot of its screen after the actions. Positions are in pixels of the " +
    "last screenshot, from its top left corner. Begin with a screenshot if you have not seen the screen yet.",
  schema: {
    type: "object",
    properties: {
      actions: {
        type: "array",
        description: "What to do, in order.",
        items: {
          type: "object",
          properties: {
            type: {
              type: "string",
              enum: Object.keys(ACTIONS),
              description:
                "click, double_click and move need x and y; drag needs path; keypress needs keys; scroll needs x, y, scroll_x and " +
                "scroll_y; type needs text; screenshot and wait need nothing.",
            },
            ...POINT,
            button: { type: "string", enum: BUTTONS, description: "For click." },
            path: {
              type: "array",
              items: { type: "object", properties: POINT, required: ["x", "y"] },
              description: "For drag: the positions to pass, in order.",
            },
            keys: { type: "array", items: { type: "string" }, description: "For keypress: keys to press together." },
            scroll_x: { type: "integer", description: "For scroll: pixels to the right; negative to the left." },
            scroll_y: { type: "integer", description: "For scroll: pixels downwards; negative upwards." },
            text: { type: "string", description: "For type: the text to type." },
          },
          required: ["type"],
        },
      },
    },
    required: ["actions"],
  },
  prefix: "cu",
  empty: { actions: [], pending_safety_checks: [] },
  argumentsOf: (item) => ({ actions: actionsIn(item) }),
  callOf: (input) => {
    const actions = arrayAt(input, "actions").map(actionOf);
    return actions.length === 0 || actions.includes(undefined) ? undefined : { actions, pending_safety_checks: [] };
  },
  resultOf: (item) => {
    const { type: _type, ...image } = objectAt(item, "output") ?? {};
    return { content: [{ type: "input_image", ...image }] };
  },
};
