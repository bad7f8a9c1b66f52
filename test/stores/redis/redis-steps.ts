/** Steps that tests of the store on Redis share: every kind of operation, and every refusal. */
import type { Store } from '../../../src/api/store.ts';

export const hourMs = 3_600_000;

export function later(): number {
  return Date.now() + 60_000;
}

/** What a step returned that must take place. */
export async function resultsOf<const T extends readonly Store.Operation[]>(
  store: Store,
  space: Store.Space,
  operations: T,
): Promise<Store.Applied<T>['results']> {
  const outcome = await store.apply(space, operations);
  if (outcome.results === undefined)
    throw new Error(`Expected the step to fit, got ${JSON.stringify(outcome)}`);
  return outcome.results;
}

const common: readonly Store.Operation[] = [
  { op: 'set', key: 'k', value: 'v\0', ttlMs: hourMs },
  { op: 'append', log: 'log', value: 'v', keep: 3 },
  { op: 'read', log: 'log', after: 0, limit: 3 },
  { op: 'count', key: 'c', limit: 10, windowMs: hourMs },
  { op: 'get', keys: ['k', 'none', 'k'] },
  { op: 'delete', key: 'none' },
];

/** Steps with every kind of operation that writes, on a session and on a shared space. */
export function steps(
  name: string,
): readonly (readonly [Store.Space, readonly Store.Operation[]])[] {
  return [
    [
      { session: name },
      [
        { op: 'open', expiresAt: later() },
        ...common,
        { op: 'extend', expiresAt: later() + 1_000 },
        { op: 'publish', message: 'm', versionOf: 1 },
      ],
    ],
    [
      { shared: name },
      [
        ...common,
        { op: 'set', key: 'listed', value: 'v', lists: ['l'] },
        { op: 'list', list: 'l', limit: 3 },
        { op: 'add', key: 'sum', amount: 1n, max: 10n, windowMs: hourMs },
        { op: 'sum', key: 'other sum', amount: 1n, windowMs: hourMs },
        { op: 'subtract', key: 'third sum', amount: 1n, place: 'none' },
        { op: 'publish', message: 'm', versionOf: 0 },
      ],
    ],
  ];
}

interface Refusal {
  readonly space: Store.Space;
  /** What is there before. */
  readonly before: readonly Store.Operation[];
  /** What would fit. */
  readonly fits: readonly Store.Operation[];
  readonly refused: Store.Operation;
  /** What the answer has beside the usual. */
  readonly answer: object;
}

const spaces = { 'a session': { session: 's' }, 'a shared space': { shared: 's' } } as const;

const kept: readonly Store.Operation[] = [
  { op: 'set', key: 'kept', value: 'v' },
  { op: 'set', key: 'lease', value: 'v', ttlMs: hourMs },
  { op: 'append', log: 'kept', value: 'v' },
  { op: 'count', key: 'kept', limit: 1, windowMs: hourMs },
];

const keptToo: readonly Store.Operation[] = [
  { op: 'set', key: 'listed', value: 'v', lists: ['a', 'b'], ttlMs: hourMs },
  { op: 'add', key: 'kept', amount: 5n, windowMs: hourMs },
];

/** What fits, and changes all that is kept. */
const changes: readonly Store.Operation[] = [
  { op: 'set', key: 'kept', value: 'w' },
  { op: 'set', key: 'new', value: 'w', ttlMs: hourMs },
  { op: 'delete', key: 'lease' },
  { op: 'append', log: 'kept', value: 'w', keep: 1 },
  { op: 'append', log: 'new', value: 'w' },
  { op: 'count', key: 'new', limit: 1, windowMs: hourMs },
  { op: 'publish', message: 'a refused step publishes nothing' },
];

const changesToo: readonly Store.Operation[] = [
  { op: 'set', key: 'listed', value: 'w', lists: ['c'] },
  { op: 'add', key: 'new', amount: 5n, windowMs: hourMs },
  { op: 'subtract', key: 'kept', amount: 5n, place: 'none' },
  { op: 'list', list: 'a', limit: 1 },
];

const found = {
  value: 'v',
  version: { asymmetricMatch: Number.isSafeInteger },
  remainingMs: undefined,
};

/** An operation of each kind that does not fit, at the end of a step that would. */
const inBoth: Readonly<Record<string, readonly [Store.Operation, object]>> = {
  'a set of a document that exists': [
    { op: 'set', key: 'other', value: 'w', version: 0 },
    { found },
  ],
  'a set of a missing document': [{ op: 'set', key: 'none', value: 'w', version: 5 }, {}],
  'a touch of another version': [{ op: 'touch', key: 'other', version: 5, ttlMs: 1 }, { found }],
  'a touch of a missing document': [{ op: 'touch', key: 'none', version: 5, ttlMs: 1 }, {}],
  'a delete that is required': [{ op: 'delete', key: 'none', required: true }, {}],
  'a delete of another version that is required': [
    { op: 'delete', key: 'other', version: 5, required: true },
    { found },
  ],
  'an append after another entry': [{ op: 'append', log: 'kept', value: 'w', after: 1 }, {}],
  'a count over its limit': [
    { op: 'count', key: 'kept', limit: 1, windowMs: hourMs },
    {
      retryAfterMs: {
        asymmetricMatch: (wait: number) => wait > hourMs - 60_000 && wait <= hourMs,
      },
    },
  ],
};

const inSessions: typeof inBoth = { 'an open': [{ op: 'open', expiresAt: later() }, {}] };
const inShared: typeof inBoth = {
  'an add over its limit': [
    { op: 'add', key: 'other', amount: 3n, max: 2n, windowMs: hourMs },
    {
      uses: [
        { used: 0n, retryAfterMs: 0 },
        { used: 0n, retryAfterMs: undefined },
      ],
    },
  ],
};

export const refusals: Readonly<Record<string, Refusal>> = Object.fromEntries(
  Object.entries(spaces).flatMap(([name, space]) => {
    const isShared = 'shared' in space;
    const other: Store.Operation = { op: 'set', key: 'other', value: 'v' };
    const before = isShared
      ? [...kept, ...keptToo, other]
      : [{ op: 'open', expiresAt: later() + hourMs } as const, ...kept, other];
    const fits = isShared
      ? [...changes, ...changesToo]
      : [...changes, { op: 'extend', expiresAt: later() + 2 * hourMs } as const];
    return Object.entries({ ...inBoth, ...(isShared ? inShared : inSessions) }).map(
      ([what, [refused, answer]]) =>
        [`${what}, in ${name}`, { space, before, fits, refused, answer }] as const,
    );
  }),
);
