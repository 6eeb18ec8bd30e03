import { createContext, useContext } from "react";
import type { FieldProblem } from "@/api/problem";
import type { Schema } from "./schema";

/** What all fields of one form share. */
export interface FormScope {
  /** Schema that references point into. */
  root: Schema;
  /** True if values may be templates such as `{{event.path}}`: then every control takes text. */
  templates: boolean;
  problems: readonly FieldProblem[];
  /** Note that a person has been at this field. */
  touch: (pointer: string) => void;
}

export const FormContext = createContext<FormScope>({
  root: {},
  templates: false,
  problems: [],
  touch: () => {},
});

export function useForm(): FormScope {
  return useContext(FormContext);
}

/** The message at a pointer; with `below`, also those of parts that have no field of their own. */
export function useError(pointer: string, below = false): string | undefined {
  const { problems } = useForm();
  const mine = problems.filter(
    (each) => each.pointer === pointer || (below && each.pointer.startsWith(`${pointer}/`)),
  );
  if (mine.length === 0) return undefined;
  return mine
    .map(({ pointer: at, message }) =>
      at === pointer ? message : `${at.slice(pointer.length)}: ${message}`,
    )
    .join("; ");
}
