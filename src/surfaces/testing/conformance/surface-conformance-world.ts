/** The session that each surface is tested with: one tool for each way in which a call can end. */
import {
  content,
  defineTool,
  fail,
  jsonSchema,
  ok,
  type Policy,
  type Rule,
  type ToolSession,
} from '../../../core.ts';
import { HostToolRegistry } from '../../../index.ts';

/** What a rule about the tool `wait` needs to know. */
export interface Waiting {
  /** Resolves when the handler of `wait` was started. */
  readonly started: Promise<void>;
}

type AddTool = (
  name: string,
  handler: (input: Record<string, unknown>, context: never) => unknown,
  more?: object,
) => void;

const none = jsonSchema<Record<string, never>>({ type: 'object', properties: {} });
const anything = jsonSchema<Record<string, unknown>>({ type: 'object' });

const rules: readonly Rule[] = [
  {
    id: 'not-today',
    effect: 'deny',
    tools: 'denied',
    when: { value: { equals: 'no' } },
    reason: 'not_today',
  },
  { id: 'never', effect: 'deny', tools: 'forbidden', reason: 'never' },
];

const brokenPolicy: Policy = {
  id: 'broken',
  check: ({ tool }) => {
    if (tool.name === 'broken_policy') throw new Error('The policy is broken.');
    return undefined;
  },
};

/**
 * Makes a fresh registry and a session over it. The session sets `exposeErrors` itself, so that no
 * surface's own default matters.
 * @param code Whether it runs programs.
 */
export function conformanceWorld(code = false): {
  readonly session: ToolSession;
  readonly waiting: Waiting;
} {
  const registry = new HostToolRegistry({ rules, policies: [brokenPolicy] });
  const add = adderOf(registry);
  addSucceedingTools(add);
  addRefusedTools(add);
  addFailingTools(add);
  const waiting = addWaitingTool(add);
  registry.register(
    defineTool({
      name: 'no_input',
      description: 'Takes nothing.',
      parameters: none,
      handler: () => 'ran',
    }),
  );
  const session = registry.createSession({
    sessionId: 'surface-conformance',
    exposeErrors: 'message',
    code,
    overrides: { disable: ['disabled'] },
  });
  return { session, waiting };
}

function adderOf(registry: HostToolRegistry): AddTool {
  return (name, handler, more = {}) => {
    registry.register(
      defineTool({
        name,
        description: `Shows ${name}.`,
        parameters: anything,
        handler: handler as never,
        ...more,
      }),
    );
  };
}

function addSucceedingTools(add: AddTool): void {
  add('echo', (input) => input.value ?? null);
  add('text', ({ value }) => String(value));
  add('object', () => ({ list: [1, 'two', null], nested: { deep: true } }));
  add('nothing', () => undefined);
  add('parts', () => [
    content.text('first'),
    content.image('iVBORw0KGgo=', 'image/png'),
    content.text('last'),
  ]);
  add('declared', () => ({ sum: 3 }), {
    outputSchema: jsonSchema<{ sum: number }>({
      type: 'object',
      properties: { sum: { type: 'number' } },
      required: ['sum'],
    }),
  });
  add('declared_list', () => ['a', 'b'], {
    outputSchema: jsonSchema<string[]>({ type: 'array', items: { type: 'string' } }),
  });
  add('noted', () => ok('noted', { pages: 2 }));
  add('big', () => 'x'.repeat(5_000), { maxOutputChars: 200 });
  add('typed', ({ count }) => count, {
    parameters: jsonSchema<{ count: number }>({
      type: 'object',
      properties: { count: { type: 'integer', minimum: 1 } },
      required: ['count'],
    }),
  });
  add('reports', (_, context: { progress(done: number, total: number): void }) => {
    context.progress(1, 2);
    context.progress(2, 2);
    return 'reported';
  });
}

/** Tools whose handlers no call may reach. */
function addRefusedTools(add: AddTool): void {
  add('denied', () => 'never');
  add('forbidden', () => 'never');
  add('broken_policy', () => 'never');
  add('asked', () => 'never', { requiresApproval: true });
  add('gated', () => 'never', { requires: [{ fact: 'host.ready', equals: true }] });
  add('disabled', () => 'never');
  add('internal', () => 'never', { exposure: 'internal' });
}

function addFailingTools(add: AddTool): void {
  add('failing', () => fail({ message: 'The work tree is dirty.', reason: 'dirty_worktree' }));
  add('throwing', () => {
    throw new Error('It broke.');
  });
  add('slow', () => new Promise(() => {}), { timeoutMs: 30 });
  add('circular', () => {
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    return circle;
  });
  add('wrong_output', () => ({ sum: 'three' }), {
    outputSchema: jsonSchema<{ sum: number }>({
      type: 'object',
      properties: { sum: { type: 'number' } },
    }),
  });
  add(
    'calls_itself',
    (_, context: { tools: { call(name: string, input: object): Promise<unknown> } }) =>
      context.tools.call('calls_itself', {}),
    { uses: ['calls_itself'] },
  );
}

/** Adds `wait`, whose handler ends only when its call is aborted. */
function addWaitingTool(add: AddTool): Waiting {
  let begin: () => void = () => {};
  const started = new Promise<void>((resolve) => {
    begin = resolve;
  });
  add('wait', (_, { signal }: { signal: AbortSignal }) => {
    begin();
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve('late'), { once: true });
    });
  });
  return { started };
}
