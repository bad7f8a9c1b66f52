/**
 * What must not compile. Each marked line has one mistake; a line that compiles fails the type
 * check.
 */

import { z } from 'zod';
import type { Store } from '../../src/extend.ts';
import {
  type AnyTool,
  defineTool,
  type Hook,
  HostToolRegistry,
  isMisuseError,
  MisuseError,
  ok,
  type Profile,
  type Rule,
  type ToolResult,
} from '../../src/index.ts';
import { createMcpHandler, type McpHandlerOptions } from '../../src/surfaces/mcp/index.ts';
import { createTestSession, mockTool } from '../../src/surfaces/testing/index.ts';
import { fits, given } from './proof.ts';

const base = { description: 'words', parameters: z.object({ a: z.string() }) } as const;
const executor = { kind: 'worker', execute: async () => 1 } as const;
const handler = (): number => 1;

// ---------- One way to run, no more, no less

// @ts-expect-error handler and executor
defineTool({ ...base, name: 'x', handler, executor });
// @ts-expect-error handler and create
defineTool({ ...base, name: 'x', handler, create: () => ({ handler }) });
// @ts-expect-error executor and create
defineTool({ ...base, name: 'x', executor, create: () => ({ handler }) });
// @ts-expect-error none of them
defineTool({ ...base, name: 'x' });
// @ts-expect-error `create` gives no handler
defineTool({ ...base, name: 'x', create: () => ({ dispose: () => {} }) });
// @ts-expect-error a kind of executor that is no word
defineTool({ ...base, name: 'x', executor: { kind: 1, execute: async () => 1 } });
// @ts-expect-error an executor without `execute`
defineTool({ ...base, name: 'x', executor: { kind: 'worker' } });

// ---------- One name of each pair

const unnamed = { name: 'x', description: 'words' } as const;
const { parameters } = base;
// @ts-expect-error both names of the input
defineTool({ ...unnamed, parameters, inputSchema: parameters, handler });
// @ts-expect-error neither name of the input
defineTool({ ...unnamed, handler });
// @ts-expect-error neither name of the input, and another name of the handler
defineTool({ ...unnamed, execute: handler });
// @ts-expect-error both names of the handler
defineTool({ ...unnamed, inputSchema: parameters, handler, execute: handler });
// @ts-expect-error neither name of the handler
defineTool({ ...unnamed, inputSchema: parameters });
// @ts-expect-error another name of the handler, and an executor
defineTool({ ...unnamed, parameters, execute: handler, executor });
// @ts-expect-error another name of the handler, and other code that runs the tool
defineTool({ ...unnamed, parameters, execute: handler, external: true });
// @ts-expect-error both names of the approval
defineTool({ ...unnamed, parameters, handler, requiresApproval: true, needsApproval: true });
defineTool({
  ...base,
  name: 'x',
  handler,
  // @ts-expect-error both names of the approval, with functions
  requiresApproval: () => true,
  needsApproval: () => true,
});
// @ts-expect-error both names of a hint
defineTool({ ...base, name: 'x', handler, annotations: { readOnly: true, readOnlyHint: true } });
// @ts-expect-error the input has no `b`
defineTool({ ...unnamed, inputSchema: parameters, execute: ({ b }) => b });
// @ts-expect-error the input has no `b`
defineTool({ ...unnamed, inputSchema: parameters, handler, needsApproval: ({ b }) => b });
// @ts-expect-error an approval question that is a number
defineTool({ ...unnamed, parameters, handler, needsApproval: () => 1 });
// @ts-expect-error an unknown risk
defineTool({ ...unnamed, parameters, handler, needsApproval: { title: 'Sure?', risk: 'extreme' } });
// @ts-expect-error an unknown hint
defineTool({ ...unnamed, parameters, handler, annotations: { safeHint: true } });
// @ts-expect-error the schema says a number
defineTool({ ...unnamed, inputSchema: parameters, outputSchema: z.number(), execute: () => 'one' });
// @ts-expect-error a mock with both names of the input
mockTool({ name: 'm', parameters, inputSchema: parameters });
// @ts-expect-error a mock with both names of the handler
mockTool({ name: 'm', handler, execute: handler });
// @ts-expect-error a mock with both names of the approval
mockTool({ name: 'm', requiresApproval: true, needsApproval: true });

// ---------- Fields

// @ts-expect-error no name
defineTool({ ...base, handler });
// @ts-expect-error no description
defineTool({ name: 'x', parameters: base.parameters, handler });
// @ts-expect-error no parameters
defineTool({ name: 'x', description: 'words', handler });
// @ts-expect-error an unknown field
defineTool({ ...base, name: 'x', timeout: 5, handler });
// @ts-expect-error an unknown field beside `create`
defineTool({ ...base, name: 'x', execute: handler, create: () => ({ handler }) });
// @ts-expect-error a duration as text
defineTool({ ...base, name: 'x', timeoutMs: '5s', handler });
// @ts-expect-error an unknown annotation
defineTool({ ...base, name: 'x', annotations: { safe: true }, handler });
// @ts-expect-error an unknown scope
defineTool({ ...base, name: 'x', scope: 'call', handler });
// @ts-expect-error an unknown risk
defineTool({ ...base, name: 'x', requiresApproval: { title: 'Sure?', risk: 'extreme' }, handler });
// @ts-expect-error an approval question that is a number
defineTool({ ...base, name: 'x', requiresApproval: () => 1, handler });
// @ts-expect-error a key that is no text
defineTool({ ...base, name: 'x', resourceKey: () => 1, handler });
// @ts-expect-error the input has no `b`
defineTool({ ...base, name: 'x', resourceKey: ({ b }) => b, handler });
// @ts-expect-error a fact without a test
defineTool({ ...base, name: 'x', requires: [{ fact: 'ready' }], handler });
// @ts-expect-error a tool is named by its name or its definition
defineTool({ ...base, name: 'x', uses: [1], handler });

// ---------- Inputs, outputs, knobs

// @ts-expect-error the input has no `b`
defineTool({ ...base, name: 'x', handler: ({ b }) => b });
defineTool({
  ...base,
  name: 'x',
  outputSchema: z.object({ n: z.number() }),
  // @ts-expect-error the schema says a number
  handler: () => ({ n: 'one' }),
});
defineTool({
  ...base,
  name: 'x',
  outputSchema: z.object({ n: z.number() }),
  // @ts-expect-error the schema says a number, in `ok()` too
  handler: async () => ok({ n: 'one' }),
});
defineTool({
  ...base,
  name: 'x',
  outputSchema: z.object({ n: z.number() }),
  // @ts-expect-error nothing is no object
  handler: () => {},
});
defineTool({
  ...base,
  name: 'x',
  outputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  // @ts-expect-error the raw schema says that `n` is required
  handler: () => ({}),
});
defineTool({
  ...base,
  name: 'x',
  outputSchema: z.string(),
  // @ts-expect-error a generator is judged by what it returns
  handler: async function* () {
    yield 'half way';
    return 1;
  },
});
defineTool({
  ...base,
  name: 'x',
  policy: {
    knobs: z.object({ max: z.number() }),
    // @ts-expect-error there is no knob `min`
    check: ({ knobs, allow }) => (knobs.min > 1 ? allow() : allow()),
  },
  handler,
});
defineTool({
  ...base,
  name: 'x',
  // @ts-expect-error there are no knobs
  policy: { check: ({ knobs, ask }) => ask(knobs.max.prompt) },
  handler,
});
// @ts-expect-error there are no knobs
defineTool({ ...base, name: 'x', handler: (_input, { knobs }) => knobs.max.prompt });
// @ts-expect-error a check answers a decision
defineTool({ ...base, name: 'x', policy: { check: () => true }, handler });
// @ts-expect-error a deny has a reason
defineTool({ ...base, name: 'x', policy: { check: ({ deny }) => deny() }, handler });
// @ts-expect-error the input has no `b`
defineTool({ ...base, name: 'x', policy: { check: ({ input, ask }) => ask(input.b) }, handler });

// ---------- A definition cannot be run from, nor changed

const tool = defineTool({ ...base, name: 'tool', handler: ({ a }) => a.length });
// @ts-expect-error it does not show its handler
tool.handler;
// @ts-expect-error it is frozen
tool.name = 'tool';

// ---------- Services

interface Database {
  readonly db: { query(sql: string): string };
}
interface Mail {
  readonly mail: { send(to: string): void };
}
const query = defineTool.for<Database>()({
  ...base,
  name: 'query',
  handler: (_input, { services }) => services.db.query(''),
});
const plain = new HostToolRegistry();
const mailing = new HostToolRegistry<Mail>();
// @ts-expect-error nobody says what the services are
defineTool({ ...base, name: 'x', handler: (_input, { services }) => services.db });
defineTool.for<Database>()({
  ...base,
  name: 'x',
  // @ts-expect-error there is no such service
  handler: (_input, { services }) => services.mail,
});
// @ts-expect-error the registry has no services
plain.register(query);
// @ts-expect-error the registry has others
mailing.register(query);
// @ts-expect-error one of them needs others
mailing.registerAll([tool, query]);
// @ts-expect-error the registry has others
mailing.registerOrReplace(query);
// @ts-expect-error a scope has those of its registry
mailing.scope('plugin').register(query);
// @ts-expect-error services are required as soon as tools need them
mailing.createSession({ sessionId: 's' });
// @ts-expect-error others than the registry's
mailing.createSession({ sessionId: 's', services: given<Database>() });
// @ts-expect-error services are required in the short form too
mailing.createSessionTools('s', {});
// @ts-expect-error a session has those of its registry
mailing.createSession({ sessionId: 's', services: given<Mail>() }).register(query);
// @ts-expect-error a tool that needs something is no tool that needs nothing
given<(tool: AnyTool<unknown>) => void>()(query);
// @ts-expect-error the test session has no services
createTestSession({ tools: [query] });
new HostToolRegistry<Mail>({
  // @ts-expect-error a policy sees the registry's services
  policies: [{ id: 'p', check: ({ context }) => void context.services.db }],
});

// ---------- Calls

const session = plain.createSession({ sessionId: 's' });
// @ts-expect-error the input has a text
await session.call(tool, { a: 1 });
// @ts-expect-error the input needs `a`
await session.call(tool, {});
// @ts-expect-error the definition needs an input
await session.call(tool);
// @ts-expect-error the input has no `b`
await session.call(tool, { a: 'a', b: 1 });
// A mistake in the input or the options is reported at that argument, not at the tool.
await session.call(
  tool,
  // @ts-expect-error a member of another type
  { a: 1 },
);
await session.call(
  tool,
  { a: 'a' },
  // @ts-expect-error a duration as text
  { timeoutMs: '5s' },
);
// @ts-expect-error a duration as text
await session.call(tool, { a: 'a' }, { timeoutMs: '5s' });
// @ts-expect-error an unknown option
await session.call('tool', {}, { retries: 3 });
// @ts-expect-error a surface has a name
await session.call('tool', {}, { surface: {} });
// @ts-expect-error the input has a text
await session.tool(tool)?.execute({ a: 1 });
const result = await session.call(tool, { a: 'a' });
// @ts-expect-error nobody knows yet that it succeeded
result.output.toFixed();
// @ts-expect-error the output is a number
if (result.success) result.output.length;
// @ts-expect-error a success has no code
if (result.success) result.error.code;
// @ts-expect-error the output is a number
given<(result: ToolResult<string>) => void>()(result);
// @ts-expect-error there is no such code
if (!result.success && result.error.code === 'denied') await session.close();
defineTool({
  ...base,
  name: 'parent',
  uses: [tool],
  handler: async (_input, { tools }) => {
    // @ts-expect-error the input has a text
    await tools.call(tool, { a: 1 });
    // @ts-expect-error a log has a level of its own
    return tools.log('loud', 1);
  },
});

// ---------- Rules, profiles, sessions, hooks, answers

// @ts-expect-error an unknown effect
const badEffect: Rule = { effect: 'forbid' };
// @ts-expect-error a rule has an effect
const noEffect: Rule = { tools: '*' };
// @ts-expect-error an unknown field
const unknownField: Rule = { effect: 'deny', tool: 'git*' };
// @ts-expect-error an unknown test
const unknownTest: Rule = { effect: 'deny', when: { path: { startsWith: 'a' } } };
// @ts-expect-error only texts look alike
const alikeNumber: Rule = { effect: 'deny', when: { path: { alike: 7 } } };
// @ts-expect-error a fact has a name
const alikeFact: Rule = { effect: 'deny', when: { path: { alike: { fact: 7 } } } };
// @ts-expect-error a profile has tools
const noTools: Profile = { id: 'p' };
// @ts-expect-error a profile cannot lift an approval
const lifted: Profile = { id: 'p', tools: [{ name: 'a', requiresApproval: false }] };
// @ts-expect-error an unknown limit
const limited: Profile = { id: 'p', tools: [], limits: { callsPerHour: 1 } };
void [
  badEffect,
  noEffect,
  unknownField,
  unknownTest,
  alikeNumber,
  alikeFact,
  noTools,
  lifted,
  limited,
];
// @ts-expect-error an unknown effect
new HostToolRegistry({ default: 'block' });
// @ts-expect-error an unknown option
new HostToolRegistry({ timeoutMs: 5 });
// @ts-expect-error a session has an id
plain.createSession({});
// @ts-expect-error an unknown option
plain.createSession({ sessionId: 's', approve: () => 'allow_once' });
// @ts-expect-error an unknown mode
plain.createSession({ sessionId: 's', approvalMode: 'auto' });
// @ts-expect-error an unknown answer
plain.createSession({ sessionId: 's', approver: () => 'yes' });
// @ts-expect-error a choice is not a boolean
plain.createSession({ sessionId: 's', approver: async () => true });
// @ts-expect-error an unknown answer
session.approvals.answer('id', 'allow');
// @ts-expect-error an unknown decision
session.approvals.answer('id', { decision: 'allowed' });
// @ts-expect-error an unknown range of a grant
await session.approvals.resume('token', { decision: 'allow_always', grant: { match: 'all' } });
// @ts-expect-error an unknown list
session.setOverrides({ hide: ['a'] });
// @ts-expect-error a hook answers an action
const badHook: Hook = { before: () => ({ action: 'skip' }) };
// @ts-expect-error a deny has a reason
const noReason: Hook = { before: () => ({ action: 'deny' }) };
// @ts-expect-error a store takes steps
const badStore: Store = { put: () => {}, get: () => undefined, list: () => [] };
void [badHook, noReason, badStore];
// @ts-expect-error there is no such event
session.events.on('tool:start', () => {});
// @ts-expect-error that event has no result
session.events.on('tool:pre', ({ result }) => result);
const registration = plain.register(tool);
// @ts-expect-error a handler is not updated
registration.update({ handler });
// @ts-expect-error approval is not a question here
registration.update({ requiresApproval: { title: 'Sure?' } });
// @ts-expect-error an unknown code
new MisuseError('oops', 'words');
const caught: unknown = given();
// @ts-expect-error an unknown code
if (isMisuseError(caught)) caught.code === 'oops';

// ---------- The testing kit

// @ts-expect-error the mock's input has a text
await session.call(mockTool({ name: 'm', parameters: base.parameters }), { a: 1 });
// @ts-expect-error an unknown field
mockTool({ name: 'm', returns: 1 });
// What breaks the schema is allowed here: that is how `invalid_output` is tested.
mockTool({ name: 'm', outputSchema: z.number(), output: 'one' });

// ---------- Quotas

const counted = { id: 'q', max: 1, per: 'session' } as const;
plain.addQuotas([{ ...counted, by: ['session', { path: 'to' }] }]);
// @ts-expect-error the registry is no part of a list
plain.addQuotas([{ ...counted, by: ['session', 'registry'] }]);
// @ts-expect-error an unknown subject
plain.addQuotas([{ ...counted, by: ['session', 'user'] }]);

// ---------- One way to know who sends a request of MCP

declare const authorization: NonNullable<McpHandlerOptions['authorization']>;
declare const isOwn: boolean;
const authenticate = () => 'ann';
createMcpHandler(createTestSession(), { authenticate });
createMcpHandler(createTestSession(), { authorization });
createMcpHandler(createTestSession(), isOwn ? { authenticate } : { authorization });
createMcpHandler(createTestSession(), { authenticate, authorization: undefined });
// @ts-expect-error both schemes
createMcpHandler(createTestSession(), { authenticate, authorization });

// ---------- Delegation, credentials, approvers, undo

const people = new HostToolRegistry();
const person = people.createSession({ sessionId: 's' });
// @ts-expect-error a sub-agent without a name
person.delegate({ tools: [] });
// @ts-expect-error an option of sessions that no sub-agent has
person.delegate({ agent: 'a', principal: 'bob' });
fits<Promise<ToolResult>>(person.revert('id'));
// @ts-expect-error a call that is not named
void person.revert();
// @ts-expect-error the third argument is not for hosts
void person.revert('id', { surface: 'inspector' });
// @ts-expect-error `revert` gets the input of the tool
defineTool({ ...base, name: 'x', handler, revert: (_output, { b }) => b });
// @ts-expect-error a tool without a handler takes nothing back
defineTool({ ...base, name: 'x', revert: () => 1 });
fits<Rule>({ effect: 'ask', tools: 'x', approvers: { any: ['role:manager'], count: 2 } });
// @ts-expect-error approvers of nobody
fits<Rule>({ effect: 'ask', tools: 'x', approvers: { count: 2 } });
// @ts-expect-error who may answer is a list
fits<Rule>({ effect: 'ask', tools: 'x', approvers: { any: 'ann' } });
// @ts-expect-error a resolver without a token
new HostToolRegistry({ credentials: () => ({ user: 'ann' }) });
new HostToolRegistry({ credentials: async ({ name }) => ({ token: name }) });
new HostToolRegistry({ credentials: () => ({ authorize: { url: 'https://login.example.com' } }) });
// @ts-expect-error scopes are a list
defineTool({ ...base, name: 'x', handler, credentials: { github: { scopes: 'repo' } } });
