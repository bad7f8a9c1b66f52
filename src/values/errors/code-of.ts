/** The code of anything that was thrown. */

/** The `code`, such as `ENOENT` of an error of Node; undefined if there is none. */
export function codeOf(thrown: unknown): unknown {
  return (thrown as { readonly code?: unknown } | null | undefined)?.code;
}
