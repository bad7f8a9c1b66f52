/** Finds the route of a request. */
import { type Route, routes } from './route-table.ts';

/** The decoded values of a path's variable segments. */
export type RouteParams = Readonly<Partial<Record<'code' | 'requestId' | 'approvalId', string>>>;

/** A known path, with its routes by method. */
export interface Place {
  /** The path as written in the table. */
  readonly path: string;
  readonly params: RouteParams;
  readonly methods: ReadonlyMap<string, Route>;
  /** The value of the `Allow` header. */
  readonly allow: string;
}

/** A path of the table, by its segments. */
interface Pattern {
  readonly path: string;
  readonly segments: readonly string[];
  readonly methods: ReadonlyMap<string, Route>;
  readonly allow: string;
}

/** By the number of segments. */
const patterns = new Map<number, Pattern[]>();
for (const path of new Set(routes.map((route) => route.path))) {
  const segments = path.split('/');
  const methods = new Map(
    routes.filter((route) => route.path === path).map((route) => [route.method, route]),
  );
  const alike = patterns.get(segments.length) ?? [];
  alike.push({ path, segments, methods, allow: allowOf(methods) });
  patterns.set(segments.length, alike);
}

/**
 * Finds the routes of a path; undefined if the path is unknown.
 * @param pathname as in a URL; one trailing slash is ignored
 */
export function findPlace(pathname: string): Place | undefined {
  const segments = (
    pathname.length > 1 && pathname.endsWith('/') ? pathname.slice(0, -1) : pathname
  ).split('/');
  const found = patterns.get(segments.length)?.find((pattern) => fits(pattern.segments, segments));
  if (found === undefined) return undefined;
  const { path, methods, allow } = found;
  return { path, params: paramsOf(found.segments, segments), methods, allow };
}

/** Compares from the end, where the paths differ. */
function fits(wanted: readonly string[], segments: readonly string[]): boolean {
  for (let at = wanted.length - 1; at >= 0; at--) {
    const segment = wanted[at] as string;
    if (segment !== segments[at] && !segment.startsWith(':')) return false;
  }
  return true;
}

function paramsOf(wanted: readonly string[], segments: readonly string[]): RouteParams {
  const params: Record<string, string> = {};
  for (let at = 0; at < wanted.length; at++) {
    const segment = wanted[at] as string;
    if (segment.startsWith(':')) params[segment.slice(1)] = decoded(segments[at] as string);
  }
  return params;
}

/** Decodes a segment. Returns the empty string for an invalid encoding, since no name is empty. */
function decoded(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return '';
  }
}

function allowOf(methods: ReadonlyMap<string, Route>): string {
  const get = methods.get('GET');
  return [...methods.keys(), ...(get === undefined || get.stream ? [] : ['HEAD']), 'OPTIONS'].join(
    ', ',
  );
}
