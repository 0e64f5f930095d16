import { percent } from "../format/numbers.ts";
import { Change } from "./change.tsx";

interface BeforeProps {
  now: number | null;
  before: number | null;
  format: (value: number) => string;
  more?: "worse" | "better";
}

/** A part of one as a percentage. */
export const share = (value: number): string => percent(value, 1);

/** The change of a main figure, and what it was in the period of equal length before. */
export const Before = ({ now, before, format, more }: BeforeProps) =>
  before === null ? (
    <>– no calls before</>
  ) : (
    <>
      <Change now={now} before={before} {...(more === undefined ? {} : { more })} /> from {format(before)}
    </>
  );
