/** An error of the API: what happened, why, what to do, and a stable code. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly title: string,
    readonly detail: string,
    readonly hint: string,
    readonly errors: readonly FieldProblem[] = [],
    readonly requestId: string = "",
  ) {
    super(detail || title);
  }

  /** The message about one field of the body, by its JSON pointer. */
  field(pointer: string): string | undefined {
    return this.errors.find((each) => each.pointer === pointer)?.message;
  }

  get signedOut(): boolean {
    return this.status === 401;
  }
}

export interface FieldProblem {
  pointer: string;
  message: string;
}

/** Read the problem in a response that is not ok, whoever sent it. */
export function problemOf(status: number, body: unknown, requestId: string): Problem {
  const given = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
  const text = (key: string): string => (typeof given[key] === "string" ? given[key] : "");
  return new Problem(
    status,
    text("code"),
    text("title") || `The server answered ${status}.`,
    text("detail"),
    text("hint"),
    Array.isArray(given.errors) ? (given.errors as FieldProblem[]) : [],
    text("request_id") || requestId,
  );
}

/** The problem of a request that got no answer. */
export function unreachable(): Problem {
  return new Problem(
    0,
    "",
    "The server cannot be reached.",
    "The request got no answer.",
    "Check that the server runs and that you are online, then try again.",
  );
}
