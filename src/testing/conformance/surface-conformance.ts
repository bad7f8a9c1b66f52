/**
 * One truth on every surface, as data: the same calls give the same text, failure, code and events
 * as a direct call.
 */
import assert from 'node:assert/strict';
import { type AnyEvent, serializeOutput, type ToolResult, type ToolSession } from '../../index.ts';
import { readMembers } from '../../options.ts';
import { conformanceWorld } from './surface-conformance-world.ts';

/** What came back from a surface, in the words of this suite. */
export interface SurfaceAnswer {
  /**
   * All text that a model would read, in order, joined by line breaks where the surface shows
   * several.
   */
  readonly text: string;
  /** Whether the surface marks it as failed. */
  readonly isError: boolean;
  /** The error's code, where the surface has room for it. */
  readonly code?: string | undefined;
}

/** A session behind a surface. */
export interface SurfaceUnderTest {
  /**
   * Calls a tool as an agent would on that surface; `name` is the tool's id, and the surface maps
   * it to what it shows.
   */
  call(
    name: string,
    input: unknown,
    options: { readonly signal: AbortSignal },
  ): Promise<SurfaceAnswer>;
  /** Ends what `make` began. */
  close?(): Promise<void> | void;
}

/**
 * What a surface may be unable to say.
 *
 * @example
 * ```ts
 * import { surfaceFeatures } from 'host-tools/testing';
 *
 * console.log(surfaceFeatures); // the names that `features` of `surfaceConformance` takes
 * ```
 */
export const surfaceFeatures = {
  errors: 'a failed call is marked as one',
  codes: 'the error code is shown',
  unlisted: 'a call of a tool that is not listed reaches the session',
  cancel: 'the caller can cancel a call',
  notObjects: 'arguments that are no object reach the session',
} as const satisfies Record<string, string>;

/** The name of a feature that the suite can be told to leave out. */
export type SurfaceFeature = keyof typeof surfaceFeatures;

/** What {@link surfaceConformance} may be told. */
export interface SurfaceConformanceOptions {
  /** What the surface cannot say is declared here as `false`. @default every feature is offered */
  readonly features?: Partial<Readonly<Record<SurfaceFeature, boolean>>> | undefined;
}

/** One rule, for any test runner: `test(rule.name, rule.run)`. */
export interface SurfaceRule {
  /** The rule as a sentence. */
  readonly name: string;
  /**
   * Resolves when it holds; rejects with an `AssertionError` that says what was expected. Makes a
   * session of its own.
   */
  run(): Promise<void>;
}

interface Row {
  readonly title: string;
  readonly tool: string;
  readonly input?: unknown;
  readonly needs?: readonly SurfaceFeature[];
}

const rows: readonly Row[] = [
  { title: 'text', tool: 'text', input: { value: 'plain' } },
  { title: 'an empty text', tool: 'text', input: { value: '' } },
  {
    title: 'unicode: emoji, combining marks, right-to-left, a line break',
    tool: 'text',
    input: { value: 'na\u0308ive 👩‍💻 שלום\nnext' },
  },
  {
    title: 'control characters and a lone surrogate, which no model should read',
    tool: 'text',
    input: { value: 'a\u0007b\ud800c' },
  },
  { title: 'a number', tool: 'echo', input: { value: 0 } },
  { title: 'false', tool: 'echo', input: { value: false } },
  { title: 'null', tool: 'echo', input: { value: null } },
  { title: 'an array', tool: 'echo', input: { value: [1, { two: 2 }] } },
  { title: 'an object', tool: 'object' },
  {
    title: 'an object that looks like content parts and is none',
    tool: 'echo',
    input: { value: [{ type: 'text', text: 'no part' }] },
  },
  {
    title: 'keys such as __proto__ and constructor',
    tool: 'echo',
    input: JSON.parse('{"value":{"constructor":1,"__proto__":2}}'),
  },
  { title: 'no output', tool: 'nothing' },
  { title: 'no arguments', tool: 'no_input' },
  { title: 'content parts', tool: 'parts' },
  { title: 'an output under a schema', tool: 'declared' },
  { title: 'an output under a schema that is no object', tool: 'declared_list' },
  { title: 'metadata of the handler, which no model reads', tool: 'noted' },
  { title: 'an output over its budget', tool: 'big' },
  { title: 'progress', tool: 'reports' },
  { title: 'invalid_input: a missing property', tool: 'typed', input: {} },
  { title: 'invalid_input: a wrong type', tool: 'typed', input: { count: 'many' } },
  {
    title: 'invalid_input: arguments that are no object',
    tool: 'typed',
    input: [1],
    needs: ['notObjects'],
  },
  { title: 'tool_not_found', tool: 'nowhere', needs: ['unlisted'] },
  {
    title: 'tool_not_found: a name that every object has',
    tool: 'constructor',
    needs: ['unlisted'],
  },
  { title: 'tool_not_found: an internal tool', tool: 'internal', needs: ['unlisted'] },
  { title: 'tool_not_available: a fact', tool: 'gated', needs: ['unlisted'] },
  { title: 'tool_not_available: disabled', tool: 'disabled', needs: ['unlisted'] },
  { title: 'policy_denied', tool: 'denied', input: { value: 'no' } },
  { title: 'policy_denied: a tool that a rule hides', tool: 'forbidden', needs: ['unlisted'] },
  { title: 'policy_error', tool: 'broken_policy' },
  { title: 'handler_error with a reason', tool: 'failing' },
  { title: 'handler_error by a throw', tool: 'throwing' },
  { title: 'timeout', tool: 'slow' },
  { title: 'invalid_output: not JSON', tool: 'circular' },
  { title: 'invalid_output: against its schema', tool: 'wrong_output' },
];

/**
 * The rules that a surface must keep, as data:
 * `for (const rule of surfaceConformance(make)) test(rule.name, rule.run)`. `make` puts a session
 * behind the surface, afresh for each rule. A call through it must give the text, the failure mark,
 * the code and the events of a direct call on an equal session.
 * @throws MisuseError for an unknown feature.
 *
 * @example
 * ```ts
 * import { serializeOutput } from 'host-tools';
 * import { surfaceConformance } from 'host-tools/testing';
 * import { test } from 'vitest';
 *
 * // Put calls through your surface in the place of `session.call`.
 * const rules = surfaceConformance((session) => ({
 *   async call(name, input, { signal }) {
 *     const result = await session.call(name, input, { signal });
 *     const text = serializeOutput(result);
 *     return { text, isError: !result.success, code: result.error?.code };
 *   },
 * }));
 * for (const rule of rules) test(rule.name, rule.run);
 * ```
 */
export function surfaceConformance(
  make: (session: ToolSession) => SurfaceUnderTest | Promise<SurfaceUnderTest>,
  options?: SurfaceConformanceOptions,
): SurfaceRule[] {
  const where = 'surfaceConformance';
  const { features: given } = readMembers(where, options, ['features']);
  const features = readMembers(where, given, Object.keys(surfaceFeatures), { noun: 'feature' });
  const has = (feature: SurfaceFeature): boolean => features[feature] !== false;
  const offered = rows.filter(({ needs = [] }) => needs.every(has));
  const rules = offered.map(
    (row): SurfaceRule => ({ name: row.title, run: () => compare(row, make, has) }),
  );
  return [
    ...rules,
    ...(has('unlisted')
      ? [
          {
            name: 'calls that were refused leave the session as it was',
            run: () => stillWorks(make),
          },
        ]
      : []),
    ...(has('cancel')
      ? [
          {
            name: 'cancelled by the caller: the handler is told, the call ends as cancelled',
            run: () => cancels(make),
          },
        ]
      : []),
  ];
}

async function compare(
  { tool, input }: Row,
  make: Parameters<typeof surfaceConformance>[0],
  has: (feature: SurfaceFeature) => boolean,
): Promise<void> {
  const direct = conformanceWorld();
  const directEvents = listen(direct.session);
  const expected = await direct.session.call(tool, input ?? {});
  const { session } = conformanceWorld();
  const events = listen(session);
  const surface = await make(session);
  try {
    const answer = await surface.call(tool, input ?? {}, { signal: new AbortController().signal });
    assert.equal(answer.text, serializeOutput(expected), 'Expected the text of a direct call');
    if (has('errors'))
      assert.equal(
        answer.isError,
        !expected.success,
        `Expected the call to be marked as ${expected.success ? 'succeeded' : 'failed'}`,
      );
    if (has('codes'))
      assert.equal(answer.code, codeOf(expected), 'Expected the code of a direct call');
    assert.deepEqual(events, directEvents, 'Expected the events of a direct call');
  } finally {
    await surface.close?.();
    await session.close();
    await direct.session.close();
  }
}

async function stillWorks(make: Parameters<typeof surfaceConformance>[0]): Promise<void> {
  const { session } = conformanceWorld();
  const surface = await make(session);
  const { signal } = new AbortController();
  try {
    for (const name of ['nowhere', '__proto__', 'forbidden', 'gated', 'throwing'])
      await surface.call(name, {}, { signal });
    const { text } = await surface.call('text', { value: 'still here' }, { signal });
    assert.equal(text, 'still here');
  } finally {
    await surface.close?.();
    await session.close();
  }
}

async function cancels(make: Parameters<typeof surfaceConformance>[0]): Promise<void> {
  const { session, waiting } = conformanceWorld();
  const ended = new Promise<string>((resolve) => {
    session.events.on('tool:error', ({ error }) => resolve(error.code));
  });
  const surface = await make(session);
  const caller = new AbortController();
  try {
    // A surface may answer a caller that went away or not: what counts is what became of the call.
    const answer = surface.call('wait', {}, { signal: caller.signal }).catch(() => undefined);
    await waiting.started;
    caller.abort();
    assert.equal(await ended, 'cancelled', 'Expected the call to end as cancelled');
    await answer;
  } finally {
    await surface.close?.();
    await session.close();
  }
}

function codeOf(result: ToolResult): string | undefined {
  return result.success ? undefined : result.error.code;
}

/** What is told of a session's calls, without what differs from one call to the next. */
function listen(session: ToolSession): string[] {
  const heard: string[] = [];
  session.events.on('*', (event: AnyEvent) => {
    switch (event.type) {
      case 'tool:error':
        return void heard.push(
          `${event.type} ${event.toolName} ${event.status} ${event.error.code} ` +
            `${event.error.reason ?? ''}`,
        );
      case 'tool:pre':
      case 'tool:post':
      case 'policy:check':
      case 'policy:violation':
      case 'tool:progress':
        return void heard.push(`${event.type} ${event.toolName}`);
    }
  });
  return heard;
}
