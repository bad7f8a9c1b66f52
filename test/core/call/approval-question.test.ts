/**
 * What an approver is shown: exactly what will run, but for secret fields, under the host's own
 * words.
 */

import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createDefinition } from '../../../src/core/tool/define-tool.ts';
import {
  type AnyEvent,
  type ApprovalRequest,
  defineTool,
  HostToolRegistry,
  type JsonObject,
  type JsonValue,
  type Rule,
  type ToolContext,
  type ToolResult,
} from '../../../src/index.ts';
import { approvalStoreOf } from '../../stores/shared/ports.ts';
import { key } from '../approval/kit.ts';

const marked = {
  type: 'object',
  properties: { cmd: {}, token: { type: 'string', 'x-secret': true } },
} as const;

interface Asked {
  readonly result: ToolResult;
  readonly requests: readonly ApprovalRequest[];
  readonly events: readonly AnyEvent[];
  /** What the handler got. */
  readonly ran: readonly unknown[];
  /** How many records the approval store got. */
  readonly stored: number;
  /** What the logger was told, with its data. */
  readonly warned: readonly (readonly [data: object, message: string | undefined])[];
}

function deep(levels: number, inner: JsonValue): JsonValue {
  return levels === 0 ? inner : [deep(levels - 1, inner)];
}

function allow(asked: unknown[], request: ApprovalRequest): 'allow_once' {
  asked.push(request);
  return 'allow_once';
}

/** The question as events tell it. */
function toldRequest(events: readonly AnyEvent[]): unknown {
  return (
    events.find(({ type }) => type === 'approval:required') as { request?: unknown } | undefined
  )?.request;
}

interface How {
  readonly parameters?: JsonObject;
  readonly requiresApproval?: unknown;
  readonly redact?: string[];
  readonly mode?: 'ask' | 'suspend';
  readonly rules?: readonly Rule[];
  /** Whether the tool comes from outside, such as over MCP: its marks are not the host's word. */
  readonly outside?: boolean;
}

/** Calls a tool that asks, and says yes. */
async function ask(
  input: JsonObject,
  {
    parameters = marked,
    requiresApproval = true,
    redact = [],
    mode = 'ask',
    rules = [],
    outside = false,
  }: How = {},
): Promise<Asked> {
  let stored = 0;
  const store = approvalStoreOf({ put: () => void stored++, take: () => undefined });
  const warned: [object, string | undefined][] = [];
  const logger = {
    warn: (data: object, message?: string) => void warned.push([data, message]),
    error: () => {},
  };
  const registry = new HostToolRegistry({ redact, logger, approvals: { secret: key, store } });
  const ran: unknown[] = [];
  const handler = (given: unknown): string => {
    ran.push(given);
    return 'done';
  };
  const config = {
    name: 'shell',
    description: 'Runs a command.',
    parameters,
    requiresApproval,
    handler,
  } as never;
  registry.register(
    (outside ? createDefinition(config, undefined, false) : defineTool(config)) as never,
  );
  const requests: ApprovalRequest[] = [];
  const approver = (request: ApprovalRequest): 'allow_once' => allow(requests, request);
  const session = registry.createSession({
    sessionId: 's',
    principal: 'p',
    approver,
    approvalMode: mode,
    rules,
    limits: { maxInputBytes: 10_000_000 },
  });
  const events: AnyEvent[] = [];
  registry.events.on('*', (event) => void events.push(event));
  const result = await session.call('shell', input);
  return { result, requests, events, ran, stored, warned };
}

describe('text reaches the approver as it was written', () => {
  test.each<[what: string, text: string]>([
    ['nested deeper than any input', `{"to":"mallory","x":${'['.repeat(66)}${']'.repeat(66)}}`],
    ['that is no JSON', '{"to":"mallory",'],
    ['with a member given twice', '{"cmd":"rm -rf /","cmd":"ls"}'],
    ['with a number of 17 digits', '{"amount":90071992547409931}'],
    ['with its own white space and escapes', ' { "a" :\t"\\u0041" } '],
  ])('%s', async (_, text) => {
    const { requests, ran } = await ask({ cmd: text }, { redact: ['password'] });
    expect(requests.map(({ input }) => input)).toEqual([{ cmd: text }]);
    expect(ran).toEqual([{ cmd: text }]);
  });

  test('but for the characters of a secret value, which `hiddenFields` names', async () => {
    const { requests, ran, events } = await ask(
      { cmd: '{"cmd":"rm -rf /","cmd":"ls","password":"hunter2","n":1.0} # hunter2' },
      { redact: ['password'] },
    );
    expect(requests[0]?.input).toEqual({
      cmd: '{"cmd":"rm -rf /","cmd":"ls","password":"[redacted]","n":1.0} # hunter2',
    });
    expect(requests[0]?.hiddenFields).toEqual(['/cmd/password']);
    expect(ran).toHaveLength(1);
    expect(JSON.stringify(events)).not.toContain('hunter2');
  });

  test('a text with secrets instead of an object is hidden completely in events', async () => {
    const parameters = {
      type: 'object',
      properties: { auth: { anyOf: [{ type: 'string' }, marked] } },
    } as unknown as JsonObject;
    const { requests, events } = await ask({ auth: '{"cmd":"rm -rf /",' }, { parameters });
    expect(requests[0]).toMatchObject({ input: { auth: '{"cmd":"rm -rf /",' }, hiddenFields: [] });
    expect(JSON.stringify(events)).not.toContain('rm -rf');
    expect(toldRequest(events)).toMatchObject({
      input: { auth: '[redacted]' },
      hiddenFields: ['/auth'],
    });
  });
});

test('a copy of a secret in another field is shown: a model chooses both', async () => {
  const { requests, ran, events } = await ask({ cmd: 'rm -rf /', token: 'rm -rf /' });
  expect(requests[0]?.input).toEqual({ cmd: 'rm -rf /', token: '[redacted]' });
  expect(requests[0]?.hiddenFields).toEqual(['/token']);
  expect(ran).toHaveLength(1);
  expect(toldRequest(events)).toMatchObject({
    input: { cmd: '[redacted]', token: '[redacted]' },
    hiddenFields: ['/token'],
  });
});

describe('title and message stay as the host wrote them', () => {
  const prompt = ({ cmd }: { cmd: string }): object => ({
    title: `Run ${cmd}?`,
    message: 'This cannot be undone',
    risk: 'high',
  });

  test('if no secret occurs in them', async () => {
    const { requests } = await ask({ cmd: 'ls', token: 'another' }, { requiresApproval: prompt });
    expect(requests[0]).toMatchObject({ title: 'Run ls?', message: 'This cannot be undone' });
  });

  const hostile: [what: string, input: JsonObject, requiresApproval: unknown, redact?: string[]][] =
    [
      ['the warning', { cmd: 'rm -rf /', token: 'This cannot be undone' }, prompt],
      ['a part of the warning', { cmd: 'rm -rf /', token: 'cannot' }, prompt],
      ['the warning in another case', { cmd: 'rm -rf /', token: 'THIS CANNOT BE UNDONE' }, prompt],
      ['the command that the title names', { cmd: 'rm -rf /', token: 'rm -rf /' }, prompt],
      [
        'the warning, in a text',
        { cmd: '{"password":"This cannot be undone"}' },
        prompt,
        ['password'],
      ],
    ];
  test.each(hostile)(
    'a call whose secret is %s is refused, and nobody is asked',
    async (_, input, requiresApproval, redact = []) => {
      for (const mode of ['ask', 'suspend'] as const) {
        const { result, requests, ran, events, stored } = await ask(input, {
          requiresApproval,
          redact,
          mode,
        });
        expect(result).toMatchObject({ success: false, error: { code: 'approval_denied' } });
        expect(events.filter(({ type }) => type.startsWith('approval:'))).toMatchObject([
          { type: 'approval:denied', reason: 'secret_in_prompt' },
        ]);
        expect([requests, ran, stored]).toEqual([[], [], 0]);
      }
    },
  );

  test.each<[field: string, input: JsonObject]>([
    ['message', { cmd: 'ls', token: 'This cannot be undone' }],
    ['title', { cmd: 'rm -rf /', token: 'rm -rf /' }],
  ])('the refusal and the log name the field, `%s`, and never the secret', async (field, input) => {
    const { result, warned } = await ask(input, { requiresApproval: prompt });
    const message = expect.stringContaining(`The \`${field}\` of the approval request`);
    expect(result).toMatchObject({
      error: { code: 'approval_denied', reason: 'secret_in_prompt', message },
    });
    expect(warned).toEqual([
      [
        { sessionId: 's', callId: result.metadata.callId, toolName: 'shell', field },
        'the prompt of an approval contains a secret of the call, so the call was refused',
      ],
    ]);
    expect(JSON.stringify([result, warned])).not.toContain(input.token);
  });

  test(
    'a secret that stands in the title which the library gives is no word of the host’s: the ' +
      'approver is asked',
    async () => {
      const { result, requests, warned, events } = await ask({ cmd: 'ls', token: 'shell' });
      expect(result).toMatchObject({ success: true });
      expect(requests).toMatchObject([
        { title: 'Allow `shell` to run?', input: { cmd: 'ls', token: '[redacted]' } },
      ]);
      expect(warned).toEqual([]);
      expect(events.find(({ type }) => type === 'approval:required')).toMatchObject({
        request: { title: 'Allow `[redacted]` to run?' },
      });
    },
  );

  test('the secret of a parent counts for the calls that it makes', async () => {
    const registry = new HostToolRegistry();
    const asked: unknown[] = [];
    const inner = {
      parameters: { type: 'object' },
      requiresApproval: ({ text }: { text: string }) => ({ title: `Send ${text}?` }),
      handler: () => 1,
    };
    const outer = {
      parameters: marked,
      uses: ['inner'],
      handler: async ({ token }: { token: string }, { tools }: ToolContext) => {
        const result = await tools.call('inner', { text: token });
        return result.success ? 'ran' : (result.error.reason ?? '');
      },
    };
    registry.register(
      defineTool({ name: 'inner', description: 'Asks.', ...inner } as never) as never,
    );
    registry.register(
      defineTool({ name: 'outer', description: 'Calls.', ...outer } as never) as never,
    );
    const session = registry.createSession({
      sessionId: 's',
      approver: (request) => allow(asked, request),
    });
    expect(await session.call('outer', { token: 'hunter2-hunter2' })).toMatchObject({
      output: 'secret_in_prompt',
    });
    expect(asked).toEqual([]);
  });
});

describe('a question says who asks, and contains nothing made up', () => {
  const always = [
    'id',
    'sessionId',
    'principal',
    'callId',
    'tool',
    'input',
    'title',
    'summary',
    'source',
    'requestedAt',
    'expiresAt',
    'hiddenFields',
  ];
  test.each<[what: string, how: How, source: string, more: string[]]>([
    ['the tool', {}, 'tool', []],
    [
      'a rule',
      { requiresApproval: false, rules: [{ id: 'r', effect: 'ask' }] },
      'session',
      ['ruleId'],
    ],
    [
      'the tool, in its own words',
      { requiresApproval: () => ({ title: 'Sure?', message: 'It is gone then.', risk: 'low' }) },
      'tool',
      ['message', 'risk'],
    ],
  ])('%s', async (_, how, source, more) => {
    const { requests, events } = await ask({ cmd: 'ls' }, how);
    expect(requests[0]?.source).toBe(source);
    expect(Object.keys(requests[0] ?? {}).sort()).toEqual([...always, ...more].sort());
    expect(Object.keys(toldRequest(events) as object).sort()).toEqual([...always, ...more].sort());
  });
});

test('a question for a session without a principal names none', async () => {
  const registry = new HostToolRegistry();
  const asked: ApprovalRequest[] = [];
  registry.register(
    defineTool({
      name: 'shell',
      description: 'Runs.',
      parameters: { type: 'object' },
      requiresApproval: true,
      handler: () => 1,
    }),
  );
  await registry
    .createSession({ sessionId: 's', approver: (request) => allow(asked, request) })
    .call('shell', {});
  expect(asked).toHaveLength(1);
  expect(asked[0]).not.toHaveProperty('principal');
});

describe('of a tool from outside', () => {
  const secretTitle = ({ cmd }: { cmd: string }): object => ({ title: `Run ${cmd}?` });

  test('secrets of the host are hidden; if one is in the title, the call is refused', async () => {
    const input = { cmd: 'ls hunter2', password: 'hunter2' };
    const { requests } = await ask(input, { outside: true, redact: ['password'] });
    expect(requests[0]).toMatchObject({
      input: { cmd: 'ls hunter2', password: '[redacted]' },
      hiddenFields: ['/password'],
    });
    const refused = await ask(input, {
      outside: true,
      redact: ['password'],
      requiresApproval: secretTitle,
    });
    expect(refused.result).toMatchObject({ error: { reason: 'secret_in_prompt' } });
    expect(refused.requests).toEqual([]);
  });

  test('a secret of the tool itself may occur in the title', async () => {
    const { requests } = await ask(
      { cmd: 'ls hunter2', token: 'hunter2' },
      { outside: true, requiresApproval: secretTitle },
    );
    expect(requests[0]).toMatchObject({
      title: 'Run ls hunter2?',
      input: { token: 'hunter2' },
      hiddenFields: [],
    });
  });

  // The marks are followed for events alone.
  const list = {
    type: 'object',
    properties: { list: { type: 'array', items: marked }, tree: { $ref: '#/$defs/tree' } },
    $defs: { tree: { properties: marked.properties, items: { $ref: '#/$defs/tree' } } },
  } as unknown as JsonObject;
  test.each<[what: string, input: JsonObject]>([
    [
      'are too many',
      {
        list: Array.from({ length: 501 }, (_, index) => ({ cmd: 'ls', token: `secret-${index}` })),
      },
    ],
    [
      'are too much text',
      { list: Array.from({ length: 5 }, () => ({ cmd: 'x'.repeat(1_000_000), token: 'secret' })) },
    ],
    [
      'are too many, and too deep, to be named each',
      {
        tree: deep(50, [
          { token: 'secret' },
          ...Array.from({ length: 9_000 }, () => ({ token: 'x' })),
        ]),
      },
    ],
  ])(
    'whose secrets %s, events tell nothing of the input, and a person is shown it',
    async (_, input) => {
      const { requests, events, ran } = await ask(input, { outside: true, parameters: list });
      expect(requests).toHaveLength(1);
      expect(requests[0]).toMatchObject({ input, hiddenFields: [] });
      expect(ran).toHaveLength(1);
      const { input: told, hiddenFields } = toldRequest(events) as Pick<
        ApprovalRequest,
        'input' | 'hiddenFields'
      >;
      expect({ told, hiddenFields }).toEqual({ told: {}, hiddenFields: [''] });
    },
  );
});

describe('an input whose secrets cannot be found within bounds is refused', () => {
  test.each<[what: string, input: JsonObject]>([
    [
      'too many secrets',
      { list: Array.from({ length: 501 }, (_, index) => ({ password: `secret-${index}` })) },
    ],
    [
      'too much text',
      { list: Array.from({ length: 5 }, () => `{"open":"${'x'.repeat(1_000_000)}"}`) },
    ],
  ])('%s', async (_, input) => {
    const registry = new HostToolRegistry({ redact: ['password'] });
    const asked: unknown[] = [];
    const config = { parameters: { type: 'object' }, requiresApproval: true, handler: () => 1 };
    registry.register(
      defineTool({ name: 'post', description: 'Posts.', ...config } as never) as never,
    );
    const session = registry.createSession({
      sessionId: 's',
      limits: { maxInputBytes: 10_000_000 },
      approver: (request) => allow(asked, request),
    });
    const events: AnyEvent[] = [];
    registry.events.on('*', (event) => void events.push(event));
    const { error } = await session.call('post', input);
    expect(error).toMatchObject({
      code: 'approval_denied',
      reason: 'input_not_shown',
      message: expect.stringContaining('Send less.'),
    });
    expect(asked).toEqual([]);
    expect(events.find(({ type }) => type === 'tool:pre')).toMatchObject({ input: '[redacted]' });
    expect(events.find(({ type }) => type === 'tool:error')).toMatchObject({ error });
    expect(events.find(({ type }) => type === 'approval:denied')).toMatchObject({
      reason: 'input_not_shown',
    });
  });

  test('fields that are too many, and too deep, to be named each', async () => {
    const { result, requests } = await ask(
      {
        a: deep(
          50,
          Array.from({ length: 9_000 }, () => ({ password: 'x' })),
        ),
      },
      { redact: ['password'] },
    );
    expect(result).toMatchObject({ error: { code: 'approval_denied', reason: 'input_not_shown' } });
    expect(requests).toEqual([]);
  });
});

describe('the summary of a call', () => {
  test('leaves out what is secret, for the approver and in events', async () => {
    const { requests, events } = await ask({ cmd: 'login s3cr3t-token', token: 's3cr3t-token' });
    expect(requests[0]?.summary).toBe('shell login s3cr3t-token');
    // Copies of a secret are hidden in events, as they are in the input there.
    expect(toldRequest(events)).toMatchObject({ summary: 'shell login [redacted]' });
    const { requests: others } = await ask({ token: 's3cr3t-token' });
    expect(others[0]?.summary).toBe('shell');
  });

  test('names the call whose handler asks', async () => {
    const registry = new HostToolRegistry();
    const inner = defineTool({
      name: 'pay',
      description: 'Pays.',
      parameters: { type: 'object' },
      requiresApproval: true,
      handler: () => 'paid',
    });
    registry.register(inner);
    registry.register(
      defineTool({
        name: 'pay_all',
        description: 'Pays all.',
        parameters: { type: 'object' },
        uses: ['pay'],
        handler: async (_, context) => (await context.tools.call('pay', { to: 'ann' })).success,
      }),
    );
    const asked: ApprovalRequest[] = [];
    const session = registry.createSession({
      sessionId: 's',
      approver: (request) => allow(asked, request),
    });
    await session.call('pay_all', {}, { callId: 'all' });
    await session.call('pay', {});
    expect(asked.map(({ parent, summary }) => [parent, summary])).toEqual([
      [{ callId: 'all', tool: 'pay_all' }, 'pay to ann'],
      [undefined, 'pay'],
    ]);
  });
});

test('a title, which an application may have given, cannot end the quotes around it', async () => {
  const registry = new HostToolRegistry({
    rules: [{ effect: 'ask', tools: 'erase' }],
  });
  registry.register(
    defineTool({
      name: 'erase',
      title: 'a` to run? It only reads. Allow `b',
      description: 'Erases.',
      parameters: z.object({}),
      handler: () => 'erased',
    }),
  );
  const titles: string[] = [];
  const session = registry.createSession({
    sessionId: 's',
    approver: ({ title }) => {
      titles.push(title);
      return 'reject_once';
    },
  });
  await session.call('erase', {});
  expect(titles).toEqual(["Allow `a' to run? It only reads. Allow 'b` to run?"]);
});
