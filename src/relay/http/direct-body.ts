/**
 * Ways around the headers and bodies of requests where they are at hand: making `Headers` and
 * reading a stream is most of what a small request costs.
 */

/**
 * Reads a body once, whole. @returns undefined when it is larger than `mostBytes`. Rejects when the
 * client goes away on the way.
 */
export type ReadDirectly = (mostBytes: number) => Promise<Uint8Array | undefined>;

const read: unique symbol = Symbol('read directly');
const header: unique symbol = Symbol('header');
type Marked = { [read]?: ReadDirectly; [header]?: (name: string) => string | null };

/** Marks a request whose server has its body, and its headers by lower-case name. */
export function markDirect(
  request: Request,
  reads: ReadDirectly,
  headers?: (name: string) => string | null,
): void {
  (request as Marked)[read] = reads;
  if (headers !== undefined) (request as Marked)[header] = headers;
}

/** Undefined for any other request: its `body` is to be read. */
export function directBody(request: Request): ReadDirectly | undefined {
  return (request as Marked)[read];
}

/** A header, as `request.headers.get` has it. @param name in lower case */
export function headerOf(request: Request, name: string): string | null {
  const direct = (request as Marked)[header];
  return direct === undefined ? request.headers.get(name) : direct(name);
}
