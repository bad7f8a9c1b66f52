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

interface Pattern {
  readonly path: string;
  readonly segments: readonly string[];
  readonly methods: Map<string, Route>;
}

const patterns: readonly Pattern[] = [...new Set(routes.map(({ path }) => path))].map((path) => ({
  path,
  segments: path.split('/'),
  methods: new Map(
    routes.filter((route) => route.path === path).map((route) => [route.method, route]),
  ),
}));

/**
 * Finds the routes of a path; undefined if the path is unknown.
 * @param pathname as in a URL; one trailing slash is ignored
 */
export function findPlace(pathname: string): Place | undefined {
  const segments = (
    pathname.length > 1 && pathname.endsWith('/') ? pathname.slice(0, -1) : pathname
  ).split('/');
  for (const { path, segments: wanted, methods } of patterns) {
    const params = match(wanted, segments);
    if (params !== undefined) return { path, params, methods, allow: allowOf(methods) };
  }
  return undefined;
}

function match(wanted: readonly string[], segments: readonly string[]): RouteParams | undefined {
  if (wanted.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of wanted.entries()) {
    const given = segments[index] as string;
    if (!segment.startsWith(':')) {
      if (segment !== given) return undefined;
    } else params[segment.slice(1)] = decoded(given);
  }
  return params;
}

/** Decodes a segment. Returns the empty string for an invalid encoding, since no name is empty. */
function decoded(segment: string): string {
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
