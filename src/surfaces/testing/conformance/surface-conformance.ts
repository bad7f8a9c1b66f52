/**
 * The contract of a surface as data: a call through it has the same text, failure mark, code and
 * events as a direct call.
 */
import assert from 'node:assert/strict';
import {
  type AnyEvent,
  serializeOutput,
  type ToolResult,
  type ToolSession,
} from '../../../core.ts';
import { readMembers } from '../../../values/options/index.ts';
import {
  type SurfaceFeature,
  type SurfaceRow,
  surfaceFeatures,
  surfaceRows,
} from './surface-conformance-rows.ts';
import { conformanceWorld } from './surface-conformance-world.ts';

/** A surface's answer to a call. */
export interface SurfaceAnswer {
  /** All text that a model would read, in order. Several texts are joined by line breaks. */
  readonly text: string;
  /** Whether the surface marks it as failed. */
  readonly isError: boolean;
  /** The error's code, if the surface shows it. */
  readonly code?: string | undefined;
}

/** A session behind a surface. */
export interface SurfaceUnderTest {
  /**
   * Calls a tool as an agent on that surface would. `name` is the name under which the tool is
   * registered; the surface maps it to the name that it shows.
   */
  call(
    name: string,
    input: unknown,
    options: { readonly signal: AbortSignal },
  ): Promise<SurfaceAnswer>;
  /** Cleans up what `make` started. */
  close?(): Promise<void> | void;
}

/** Options of {@link surfaceConformance}. */
export interface SurfaceConformanceOptions {
  /**
   * Set a feature that the surface lacks to `false`. Set `noArguments` to `true` if the surface
   * reads the arguments that models send.
   * @default the surface has every feature but `noArguments`
   */
  readonly features?: Partial<Readonly<Record<SurfaceFeature, boolean>>> | undefined;
  /**
   * Whether each call is made by a program, too, in a session with `code`: its result must be that
   * of the same program in a direct call. Needs the package `run`.
   * @default false
   */
  readonly programs?: boolean | undefined;
}

/** One rule, for any test runner: `test(rule.name, rule.run)`. */
export interface SurfaceRule {
  /** The rule as a sentence. */
  readonly name: string;
  /**
   * Makes a new session and checks the rule on it. Resolves if the rule holds; otherwise it rejects
   * with an `AssertionError` that says what was expected.
   */
  run(): Promise<void>;
}

/**
 * Returns the rules that a surface must satisfy, as data:
 * `for (const rule of surfaceConformance(make)) test(rule.name, rule.run)`. For each rule, `make`
 * connects a new session to the surface. A call through the surface must have the text, the failure
 * mark, the code and the events of a direct call on an equal session.
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
  const { features: given, programs = false } = readMembers(where, options, [
    'features',
    'programs',
  ]);
  const features = readMembers(where, given, Object.keys(surfaceFeatures), { noun: 'feature' });
  const has = (feature: SurfaceFeature): boolean =>
    feature === 'noArguments' ? features[feature] === true : features[feature] !== false;
  const offered = surfaceRows.filter(({ needs = [] }) => needs.every(has));
  const inPrograms = programs ? surfaceRows.filter(isForPrograms).map(programOf) : [];
  const rules = [...offered, ...inPrograms].map(
    (row): SurfaceRule => ({ name: row.title, run: () => compare(row, make, has) }),
  );
  return [
    ...rules,
    ...(has('unlisted')
      ? [
          {
            name: 'refused calls do not affect the session',
            run: () => stillWorks(make),
          },
        ]
      : []),
    ...(has('cancel')
      ? [
          {
            name:
              "cancelled by the caller: the handler's signal is aborted and the call ends as " +
              'cancelled',
            run: () => cancels(make),
          },
        ]
      : []),
  ];
}

/** What a model sends is the program there, whatever the program sends. */
function isForPrograms({ needs = [] }: SurfaceRow): boolean {
  return !needs.includes('noArguments') && !needs.includes('notObjects');
}

/** The row, with its call made by a program. */
function programOf(row: SurfaceRow): SurfaceRow {
  const input = JSON.stringify(JSON.stringify(inputOf(row)));
  const call = `tools[${JSON.stringify(row.tool)}](JSON.parse(${input}))`;
  const error = '({ code, reason, retryable, message })';
  return {
    title: `in a program: ${row.title}`,
    tool: 'run_code',
    input: { code: `return await ${call}.catch(${error} => ${error});` },
  };
}

function inputOf(row: SurfaceRow): unknown {
  return Object.hasOwn(row, 'input') ? row.input : {};
}

async function compare(
  row: SurfaceRow,
  make: Parameters<typeof surfaceConformance>[0],
  has: (feature: SurfaceFeature) => boolean,
): Promise<void> {
  const { tool } = row;
  const input = inputOf(row);
  const runsPrograms = tool === 'run_code';
  const direct = conformanceWorld(runsPrograms);
  const directEvents = listen(direct.session);
  const expected = await direct.session.call(tool, row.direct ?? input);
  const { session } = conformanceWorld(runsPrograms);
  const events = listen(session);
  const surface = await make(session);
  try {
    const answer = await surface.call(tool, input, { signal: new AbortController().signal });
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
    // A surface may or may not answer a caller that went away. Only the end of the call matters.
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

/** Collects the events of a session's calls, without the parts that differ from call to call. */
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
