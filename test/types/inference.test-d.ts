/**
 * What a host never has to write down: inputs, knobs, outputs and services follow from the
 * definition, all the way to the result of a call.
 */
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import * as zm from 'zod/mini';
import { z as z3 } from 'zod3';
import {
  type AnyTool,
  type Content,
  content,
  defineTool,
  type Executor,
  fail,
  type HandlerReturn,
  type HostTool,
  type HostToolDefinition,
  HostToolRegistry,
  type JsonObject,
  type JsonValue,
  jsonSchema,
  ok,
  type Schema,
  type ToolConfig,
  type ToolContext,
  type ToolResult,
  type ToolSession,
} from '../../src/index.ts';
import { createTestSession, mockTool } from '../../src/surfaces/testing/index.ts';
import { fits, given, same } from './proof.ts';

type InputType<D> =
  D extends HostToolDefinition<string, infer I, infer _O, infer _K, never> ? I : never;
type OutputType<D> =
  D extends HostToolDefinition<string, infer _I, infer O, infer _K, never> ? O : never;
type KnobsType<D> =
  D extends HostToolDefinition<string, infer _I, infer _O, infer K, never> ? K : never;

const text = 'words';
const nothing = z.object({});

// ---------- The input, by every kind of schema: callers send the input side, handlers get the
// parsed side.

const zod4 = defineTool({
  name: 'zod4',
  description: text,
  parameters: z.object({
    city: z.string(),
    days: z.number().default(1),
    unit: z.enum(['c', 'f']).optional(),
  }),
  handler: (input, context) => {
    same<typeof input, { city: string; days: number; unit?: 'c' | 'f' | undefined }>(true);
    same<typeof context, ToolContext<unknown, Readonly<Record<string, never>>>>(true);
    return input.days;
  },
});
same<typeof zod4.name, 'zod4'>(true);
same<
  InputType<typeof zod4>,
  { city: string; days?: number | undefined; unit?: 'c' | 'f' | undefined }
>(true);
same<OutputType<typeof zod4>, number>(true);

const transformed = defineTool({
  name: 'transformed',
  description: text,
  parameters: z.object({ at: z.string().transform((given) => new Date(given)) }),
  handler: ({ at }) => {
    same<typeof at, Date>(true);
    return at.getTime();
  },
});
same<InputType<typeof transformed>, { at: string }>(true);

const zod3 = defineTool({
  name: 'zod3',
  description: text,
  parameters: z3.object({ city: z3.string(), days: z3.number().default(1) }),
  handler: (input) => {
    same<typeof input, { city: string; days: number }>(true);
    return input.city;
  },
});
same<InputType<typeof zod3>, { city: string; days?: number | undefined }>(true);

const mini = defineTool({
  name: 'mini',
  description: text,
  parameters: zm.object({ city: zm.string(), days: zm._default(zm.number(), 1) }),
  handler: (input) => {
    same<typeof input, { city: string; days: number }>(true);
    return input.city;
  },
});
same<InputType<typeof mini>, { city: string; days?: number | undefined }>(true);

const valibot = defineTool({
  name: 'valibot',
  description: text,
  parameters: toStandardJsonSchema(v.object({ city: v.string(), days: v.optional(v.number(), 1) })),
  handler: (input) => {
    same<typeof input, { city: string; days: number }>(true);
    return input.city;
  },
});
same<InputType<typeof valibot>, { city: string; days?: number | undefined }>(true);

const arktype = defineTool({
  name: 'arktype',
  description: text,
  parameters: type({ city: 'string', 'days?': 'number' }),
  handler: (input) => {
    same<typeof input, { city: string; days?: number }>(true);
    return input.city;
  },
});
same<InputType<typeof arktype>, { city: string; days?: number }>(true);

const named = defineTool({
  name: 'named',
  description: text,
  parameters: jsonSchema<{ city: string; days?: number }>({
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer' } },
    required: ['city'],
  }),
  handler: (input) => {
    same<typeof input, { city: string; days?: number }>(true);
    return input.city;
  },
});
same<InputType<typeof named>, { city: string; days?: number }>(true);

const literal = defineTool({
  name: 'literal',
  description: text,
  parameters: {
    type: 'object',
    properties: {
      city: { type: 'string', minLength: 1 },
      days: { type: 'integer', default: 3 },
      unit: { enum: ['c', 'f', null] },
      kind: { const: 'weather' },
      exact: { type: 'boolean' },
      none: { type: 'null' },
      tags: { type: 'array', items: { type: 'string' } },
      place: {
        type: 'object',
        properties: { lat: { type: 'number' }, long: { type: 'number' } },
        required: ['lat'],
      },
      rest: { type: 'object' },
      odd: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    },
    required: ['city', 'tags', 'place'],
  },
  handler: (input) => {
    same<
      typeof input,
      {
        readonly city: string;
        readonly days: number;
        readonly tags: readonly string[];
        readonly place: { readonly lat: number; readonly long?: number };
        readonly unit?: 'c' | 'f' | null;
        readonly kind?: 'weather';
        readonly exact?: boolean;
        readonly none?: null;
        readonly rest?: JsonObject;
        readonly odd?: JsonValue;
      }
    >(true);
    return input.city;
  },
});
// A caller may leave out what has a default; the handler then finds it.
fits<InputType<typeof literal>>({ city: 'Oslo', tags: ['a'], place: { lat: 1 } });
same<InputType<typeof literal>['days'], number | undefined>(true);

const anyObject = defineTool({
  name: 'any-object',
  description: text,
  parameters: { type: 'object' },
  handler: (input) => {
    same<typeof input, JsonObject>(true);
    return input;
  },
});
same<InputType<typeof anyObject>, JsonObject>(true);

const filled = defineTool({
  name: 'filled',
  description: text,
  parameters: nothing,
  outputSchema: { type: 'object', properties: { n: { type: 'number', default: 1 } } },
  handler: () => ({}),
});
same<OutputType<typeof filled>, { readonly n: number }>(true);

const loaded = defineTool({
  name: 'loaded',
  description: text,
  parameters: given<{ type: 'object'; [keyword: string]: unknown }>(),
  handler: (input) => {
    fits<JsonObject>(input);
    return Object.keys(input);
  },
});
same<OutputType<typeof loaded>, string[]>(true);

// What is left out may be written as undefined too, so that options can be passed on.
defineTool({
  name: 'left-out',
  description: text,
  parameters: nothing,
  title: undefined,
  timeoutMs: undefined,
  requiresApproval: undefined,
  uses: undefined,
  handler: () => 1,
});

// ---------- The names of other libraries, alone and mixed

const place = z.object({ city: z.string(), days: z.number().default(1) });
const inOtherWords = defineTool({
  name: 'in-other-words',
  description: text,
  inputSchema: place,
  outputSchema: z.object({ n: z.number() }),
  policy: {
    knobs: z.object({ max: z.number() }),
    check: ({ input, knobs, allow, ask }) => {
      same<typeof input, { city: string; days: number }>(true);
      return input.days > knobs.max ? ask() : allow();
    },
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
  needsApproval: (input, context) => {
    same<typeof input, { city: string; days: number }>(true);
    same<typeof context.services, unknown>(true);
    return input.days > 3 && { title: 'So long?' };
  },
  execute: async (input, context) => {
    same<typeof input, { city: string; days: number }>(true);
    same<typeof context, ToolContext<unknown, { max: number }>>(true);
    return { n: input.days };
  },
});
same<InputType<typeof inOtherWords>, { city: string; days?: number | undefined }>(true);
same<OutputType<typeof inOtherWords>, { n: number }>(true);
same<KnobsType<typeof inOtherWords>, { max: number }>(true);
const otherInput = defineTool({
  name: 'other-input',
  description: text,
  inputSchema: place,
  requiresApproval: ({ days }) => days > 3,
  handler: (input) => {
    same<typeof input, { city: string; days: number }>(true);
    return input.days;
  },
});
same<OutputType<typeof otherInput>, number>(true);
const otherHandler = defineTool({
  name: 'other-handler',
  description: text,
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  needsApproval: async ({ city }) => city === 'Oslo',
  execute: async function* (input) {
    same<typeof input, { readonly city: string }>(true);
    yield 'half way';
    return input.city;
  },
});
same<OutputType<typeof otherHandler>, string>(true);
const otherMade = defineTool.for<{ readonly db: { query(sql: string): number } }>()({
  name: 'other-made',
  description: text,
  inputSchema: place,
  needsApproval: ({ days }, { services }) => services.db.query(String(days)) > 1,
  create: () => ({
    handler: (input, { services }) => {
      same<typeof input, { city: string; days: number }>(true);
      return services.db.query(input.city);
    },
  }),
});
same<OutputType<typeof otherMade>, number>(true);
defineTool({
  name: 'other-external',
  description: text,
  inputSchema: place,
  needsApproval: true,
  external: true,
});
defineTool({
  name: 'other-executor',
  description: text,
  inputSchema: place,
  needsApproval: { title: 'Run it?', risk: 'high' },
  executor: { execute: async () => 1 },
});
// One name of a pair may be undefined.
defineTool({
  name: 'other-left-out',
  description: text,
  parameters: undefined,
  inputSchema: place,
  handler: undefined,
  execute: ({ days }) => fits<number>(days),
  needsApproval: undefined,
  requiresApproval: true,
});
// A function of the host that passes configs on.
const passedOn = <P extends Schema, R extends HandlerReturn<unknown>>(
  config: ToolConfig<string, P, undefined, undefined, unknown, R>,
) => defineTool(config);
same<OutputType<ReturnType<typeof passedOn<typeof place, Promise<number>>>>, number>(true);
fits<Parameters<typeof defineTool>[0]>({
  name: 'any',
  description: text,
  parameters: place,
  requiresApproval: true,
  handler: () => 1,
});

// ---------- Knobs

const withKnobs = defineTool({
  name: 'with-knobs',
  description: text,
  parameters: z.object({ branch: z.string() }),
  policy: {
    knobs: z.object({ prefix: z.string(), force: z.boolean().default(false) }),
    check: ({ input, knobs, context, allow, deny }) => {
      same<typeof input, { branch: string }>(true);
      same<typeof knobs, { prefix: string; force: boolean }>(true);
      same<typeof context.services, unknown>(true);
      return input.branch.startsWith(knobs.prefix) ? allow() : deny('branch_prefix_required');
    },
  },
  requiresApproval: (input) => input.branch === 'main' && { title: 'Push?', risk: 'high' },
  resourceKey: ({ branch }) => branch,
  handler: (_input, context) => {
    same<typeof context.knobs, { prefix: string; force: boolean }>(true);
    return context.knobs.force;
  },
});
same<KnobsType<typeof withKnobs>, { prefix: string; force: boolean }>(true);
same<KnobsType<typeof zod4>, Readonly<Record<string, never>>>(true);
defineTool({
  name: 'raw-knobs',
  description: text,
  parameters: nothing,
  policy: {
    knobs: { type: 'object', properties: { max: { type: 'integer', default: 3 } } },
    check: async ({ knobs, ask }) => ask(String(fits<number>(knobs.max))),
  },
  handler: (_input, { knobs }) => {
    same<typeof knobs, { readonly max: number }>(true);
    return null;
  },
});

// ---------- The output: the schema's, else what the handler returns

const base = { description: text, parameters: nothing } as const;
// A literal under a schema wants `as const`: what a handler returns is read before the schema is
// known.
const bySchema = defineTool({
  ...base,
  name: 'by-schema',
  outputSchema: z.object({ n: z.number(), s: z.enum(['a', 'b']) }),
  handler: () => ok({ n: 1, s: 'a' as const }),
});
defineTool({
  ...base,
  name: 'as-const',
  outputSchema: z.object({ s: z.enum(['a', 'b']) }),
  handler: async () => ({ s: 'a' }) as const,
});
same<OutputType<typeof bySchema>, { n: number; s: 'a' | 'b' }>(true);
const byRawSchema = defineTool({
  ...base,
  name: 'by-raw-schema',
  outputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  handler: async () => ({ n: 1 }),
});
same<OutputType<typeof byRawSchema>, { readonly n: number }>(true);
const bySchemaOfFailure = defineTool({
  ...base,
  name: 'by-schema-of-failure',
  outputSchema: z.string(),
  handler: (_input, { signal }) => (signal.aborted ? fail('stopped') : 'done'),
});
same<OutputType<typeof bySchemaOfFailure>, string>(true);

const sync = defineTool({ ...base, name: 'sync', handler: () => ({ n: 1 }) });
same<OutputType<typeof sync>, { n: number }>(true);
const async = defineTool({ ...base, name: 'async', handler: async () => ({ n: 1 }) });
same<OutputType<typeof async>, { n: number }>(true);
const withOk = defineTool({ ...base, name: 'with-ok', handler: () => ok({ n: 1 }, { took: 3 }) });
same<OutputType<typeof withOk>, { n: number }>(true);
const onlyFails = defineTool({
  ...base,
  name: 'only-fails',
  handler: () => fail({ message: 'no', reason: 'never' }),
});
same<OutputType<typeof onlyFails>, never>(true);
const either = defineTool({
  ...base,
  name: 'either',
  handler: async (_input, { signal }) =>
    signal.aborted ? fail('stopped') : signal.reason === 1 ? ok('a' as const) : 2,
});
same<OutputType<typeof either>, 'a' | 2>(true);
const generator = defineTool({
  ...base,
  name: 'generator',
  handler: async function* () {
    yield { done: 1, total: 2 };
    yield 'half way';
    return { n: 1 };
  },
});
same<OutputType<typeof generator>, { n: number }>(true);
const generatorOfEither = defineTool({
  ...base,
  name: 'generator-of-either',
  handler: async function* (_input, { signal }) {
    yield;
    return signal.aborted ? fail('stopped') : ok({ n: 1 });
  },
});
same<OutputType<typeof generatorOfEither>, { n: number }>(true);
const silent = defineTool({ ...base, name: 'silent', handler: () => {} });
same<OutputType<typeof silent>, null>(true);
const silentLater = defineTool({ ...base, name: 'silent-later', handler: async () => {} });
same<OutputType<typeof silentLater>, null>(true);
const parts = defineTool({
  ...base,
  name: 'parts',
  handler: () => [content.text('a'), content.image('AA==', 'image/png')],
});
same<OutputType<typeof parts>, Content[]>(true);
const made = defineTool({
  ...base,
  name: 'made',
  create: async ({ sessionId }) => ({ handler: () => ({ sessionId }), dispose: async () => {} }),
});
same<OutputType<typeof made>, { sessionId: string }>(true);
const elsewhere = defineTool({
  ...base,
  name: 'elsewhere',
  outputSchema: z.string(),
  executor: { kind: 'worker', execute: async (input, { signal }) => [input, signal] },
});
same<OutputType<typeof elsewhere>, string>(true);
const elsewhereUntyped = defineTool({
  ...base,
  name: 'elsewhere-untyped',
  executor: { execute: async () => 1 },
});
same<OutputType<typeof elsewhereUntyped>, unknown>(true);

// An executor serves tools of any services; one that knows its own may say so.
fits<Executor>({
  kind: 'remote',
  execute: async (_input, context: ToolContext<{ readonly queue: string }>) =>
    context.services.queue,
});

// ---------- Services

interface Database {
  readonly db: { query(sql: string): Promise<string[]> };
}
interface Mail {
  readonly mail: { send(to: string): void };
}
const query = defineTool.for<Database>()({
  name: 'query',
  description: text,
  parameters: z.object({ sql: z.string() }),
  handler: ({ sql }, { services }) => services.db.query(sql),
});
same<OutputType<typeof query>, string[]>(true);
const send = defineTool.for<Mail>()({
  name: 'send',
  description: text,
  parameters: z.object({ to: z.string() }),
  handler: ({ to }, { services }) => services.mail.send(to),
});
const both = new HostToolRegistry<Database & Mail>({
  policies: [{ id: 'p', check: ({ context }) => void context.services.mail.send('a') }],
});
// Definitions of any types, and of a part of the services, stand in one array.
both.registerAll([query, send, zod4, zod3, literal, withKnobs, generator, silent, made, elsewhere]);
both.register(zod4);
fits<AnyTool<Database & Mail>>(query);
fits<readonly AnyTool<Database>[]>([query, zod4]);
fits<readonly AnyTool<Database>[]>(given<AnyTool<unknown>[]>());
same<ReturnType<typeof both.get>, AnyTool<Database & Mail> | undefined>(true);
same<ReturnType<typeof both.listTools>, readonly AnyTool<Database & Mail>[]>(true);
const services: Database & Mail = given();
fits<ToolSession<Database & Mail>>(both.createSession({ sessionId: 's', services }));
fits<readonly HostTool[]>(both.createSessionTools('s', { services }));
// Without services nothing is asked for, and a session may still have some.
const plain = new HostToolRegistry();
plain.createSession({ sessionId: 's' });
plain.createSession({ sessionId: 's', services });
plain.createSessionTools('s', {});
plain.registerAll([zod4, literal]);

// ---------- Calls

const session = plain.createSession({ sessionId: 's', profile: undefined, signal: undefined });
const called = await session.call(zod4, { city: 'Oslo' }, { timeoutMs: 5, signal: undefined });
same<typeof called, ToolResult<number>>(true);
if (called.success) same<typeof called.output, number>(true);
else same<typeof called.output, undefined>(true);
same<Awaited<ReturnType<typeof session.call<JsonObject, 1>>>, ToolResult<1>>(true);
const byName = await session.call('zod4', { city: 1 });
same<typeof byName, ToolResult<unknown>>(true);
await session.call('zod4');
// A tool that needs no input is called by its definition as by its name, and the output is typed.
const noInput = defineTool({
  ...base,
  name: 'no_input',
  parameters: z.object({ city: z.string().optional() }),
  handler: () => 1 as const,
});
const unasked = await session.call(noInput);
same<typeof unasked, ToolResult<1>>(true);
const bound = session.tool(zod4);
same<typeof bound, HostTool<InputType<typeof zod4>, number> | undefined>(true);
same<ReturnType<HostTool<InputType<typeof zod4>, number>['execute']>, Promise<ToolResult<number>>>(
  true,
);
await bound?.execute({ city: 'Oslo', days: 2 });
same<ReturnType<typeof session.tool>, HostTool | undefined>(true);
const { call } = session;
same<typeof call, typeof session.call>(true);
defineTool({
  ...base,
  name: 'parent',
  uses: [zod4, query, literal, 'other'],
  handler: async (_input, { tools }) => {
    const child = await tools.call(zod4, { city: 'Oslo' });
    same<typeof child, ToolResult<number>>(true);
    same<Awaited<ReturnType<typeof tools.call<{ sql: string }, string[]>>>, ToolResult<string[]>>(
      true,
    );
    const other = await tools.call('other', { any: 'thing' });
    same<typeof other, ToolResult<unknown>>(true);
    return child.success ? child.output : fail('no');
  },
});

// ---------- Events

both.events.on('tool:post', (event) => fits<JsonValue>(event.result));
session.events.on('*', (event) => {
  if (event.type === 'approval:required') fits<string>(event.request.title);
  if (event.type === 'tool:error') fits<string>(event.error.code);
});

// ---------- The testing kit

const mock = mockTool({
  name: 'mock',
  parameters: z.object({ a: z.string(), b: z.number().default(1) }),
  output: { n: 1 },
});
same<InputType<typeof mock>, { a: string; b?: number | undefined }>(true);
same<typeof mock.lastInput, { a: string; b: number } | undefined>(true);
const mockInOtherWords = mockTool({
  name: 'mock-in-other-words',
  inputSchema: z.object({ a: z.string(), b: z.number().default(1) }),
  needsApproval: ({ b }) => b > 1,
  execute: ({ a, b }) => a.length + b,
});
same<InputType<typeof mockInOtherWords>, { a: string; b?: number | undefined }>(true);
same<OutputType<typeof mockInOtherWords>, number>(true);
const bare = mockTool({ name: 'bare' });
plain.registerAll([mock, bare, mockTool({ name: 'failing', error: 'no' })]);
const testSession = createTestSession({ tools: [mock, bare, zod4] });
fits<ToolSession>(testSession);
const mocked = await testSession.call(mock, { a: 'a' });
if (mocked.success) fits<{ n: number }>(mocked.output);
createTestSession<Database>({ tools: [query, zod4], services: given<Database>() });
