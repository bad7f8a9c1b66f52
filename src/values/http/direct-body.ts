/**
 * Direct access to the headers and the body of a request whose server has already read them.
 * Building `Headers` and reading a stream cause most of the cost of a small request.
 */

/**
 * Reads a whole body, once.
 * @returns the body; undefined when it is larger than `maxBytes`. Rejects when the client goes
 * away before the end.
 */
export type ReadDirectly = (maxBytes: number) => Promise<Uint8Array | undefined>;

const read: unique symbol = Symbol('read directly');
const header: unique symbol = Symbol('header');
const raw: unique symbol = Symbol('raw headers');
type Marked = {
  [read]?: ReadDirectly;
  [header]?: (name: string) => string | null;
  [raw]?: readonly string[];
};

/**
 * Marks a request whose server can read its body, and its headers by lower-case name, directly.
 * @param rawHeaders names and values in turn, as they arrived
 */
export function markDirect(
  request: Request,
  reads: ReadDirectly,
  headers?: (name: string) => string | null,
  rawHeaders?: readonly string[],
): void {
  (request as Marked)[read] = reads;
  if (headers !== undefined) (request as Marked)[header] = headers;
  if (rawHeaders !== undefined) (request as Marked)[raw] = rawHeaders;
}

/** The headers of a request as they arrived; empty if its server did not keep them. */
export function rawHeadersOf(request: Request): readonly string[] {
  return (request as Marked)[raw] ?? [];
}

/** Finds the direct reader of a request; undefined for a request whose `body` has to be read. */
export function directBody(request: object): ReadDirectly | undefined {
  return (request as Marked)[read];
}

/**
 * Reads a header. The value is the same as from `request.headers.get`. @param name in lower case
 */
export function headerOf(request: Request, name: string): string | null {
  const direct = (request as Marked)[header];
  return direct === undefined ? request.headers.get(name) : direct(name);
}
