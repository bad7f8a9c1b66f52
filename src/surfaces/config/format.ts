/**
 * The format of a file. Both the checks and `host-tools.schema.json`, which editors use, come from
 * here.
 */
import * as z from 'zod';
import { codeEntry } from './code-format.ts';
import { openApiEntry } from './openapi-format.ts';
import { profileEntry } from './profile-format.ts';
import { approversEntry, quotaEntry, ruleEntry } from './rule-format.ts';
import { sandboxEntry } from './sandbox-format.ts';
import {
  approvalsEntry,
  auditEntry,
  authorizationEntry,
  serverEntry,
  storeEntry,
} from './server-format.ts';
import { credentialsEntry } from './single-sections.ts';
import {
  count,
  exactlyOne,
  milliseconds,
  networkEntry,
  objectSchema,
  oneOf,
  oneOrMore,
  scalar,
  schema,
  scopeList,
  strict,
  text,
  texts,
  timeoutOrSeconds,
  toolAnnotations,
} from './value-formats.ts';

const approval = oneOf(
  [
    z.boolean(),
    strict({
      title: text.describe('The question to the reviewer.'),
      message: z.string().optional().describe('Further text below the question.'),
      risk: z
        .enum(['low', 'medium', 'high'])
        .optional()
        .describe('How much harm a wrong approval could do.'),
      approvers: approversEntry.optional(),
    }),
  ],
  'true, false or { title, message?, risk?, approvers? }',
);

const factRule = exactlyOne(
  {
    fact: text.describe('The name of a session fact.'),
    equals: scalar.optional().describe('The value that the fact must have.'),
    in: oneOrMore.optional().describe('The values of which the fact must have one.'),
  },
  ['equals', 'in'],
);

/** Pairs of spellings of the same field. A tool may have at most one spelling of each pair. */
export const spellings = [
  ['parameters', 'inputSchema'],
  ['requires_approval', 'requiresApproval'],
  ['needsApproval', 'requiresApproval'],
  ['needsApproval', 'requires_approval'],
  ['timeout', 'timeoutMs'],
] as const;

/** Keys that say which code runs. An external tool has none. */
export const notExternal = [
  ['external', 'module'],
  ['external', 'function'],
  ['external', 'sandbox'],
] as const;

/** One entry of `tools`. */
export const toolEntry = strict({
  name: text.describe("The tool's name, by which models, profiles and rules refer to it."),
  description: text
    .optional()
    .describe(
      'What the tool does and when to use it, for the model. Required, unless the module ' +
        'exports a finished definition.',
    ),
  module: text
    .optional()
    .describe(
      'The module that holds the handler: a path relative to this file, or a package as seen ' +
        'from this folder. Required, unless the tool is external.',
    ),
  external: z
    .literal(true)
    .optional()
    .describe(
      'Somebody else runs the tool, such as a coding agent, and asks for permission before each ' +
        'call. Instead of module.',
    ),
  function: text
    .optional()
    .describe(
      "The export to use. Default: the export with the tool's name, otherwise the default " +
        'export.',
    ),
  sandbox: sandboxEntry
    .optional()
    .describe(
      'Runs the handler in a thread or a process of its own. The module is then loaded there ' +
        'only, and exports the handler. Default: it runs in this process.',
    ),
  parameters: objectSchema
    .optional()
    .describe('The JSON Schema of the input, of type object. Default: { "type": "object" }.'),
  inputSchema: objectSchema.optional().describe('The same as parameters.'),
  outputSchema: schema.optional().describe('The JSON Schema that outputs must satisfy.'),
  requires_approval: approval.optional().describe('The same as requiresApproval.'),
  needsApproval: approval.optional().describe('The same as requiresApproval.'),
  requiresApproval: approval
    .optional()
    .describe(
      'Whether a reviewer must approve each call: true, or the question to ask. Default: false.',
    ),
  timeout: timeoutOrSeconds
    .optional()
    .describe(
      'The same as timeoutMs, as a text with its unit: "500ms", "5s", "2m" or "1h". A number is ' +
        'in SECONDS; write a unit instead.',
    ),
  timeoutMs: milliseconds
    .optional()
    .describe(
      "The time limit of the handler, in milliseconds. Default: the registry's limit, which is " +
        '120000 unless set.',
    ),
  idleTimeoutMs: milliseconds
    .optional()
    .describe('Milliseconds without progress after which a call times out. Default: off.'),
  category: z
    .string()
    .optional()
    .describe("A group of the host's choice. It has no effect on calls."),
  title: z.string().optional().describe('The name that people are shown.'),
  version: z
    .string()
    .optional()
    .describe(
      "The tool's own version. It is a string, so quote it. A new version voids the grants of " +
        'the old one. Several versions of a tool need versions such as "1.2.0".',
    ),
  deprecated: strict({
    since: text.max(100).describe('The version or the date from which on.'),
    use: text.max(1_024).optional().describe('The name of the tool to use instead.'),
    message: text.max(1_000).optional().describe('Why, or what to do instead.'),
  })
    .optional()
    .describe(
      'Says that the tool should no longer be used. It still works: models read it in the ' +
        'description, and the first call is logged.',
    ),
  tags: texts.optional().describe('Labels that rules can match.'),
  annotations: toolAnnotations
    .optional()
    .describe('Hints that rules and surfaces read. Default of each: false.'),
  requires: z
    .array(factRule)
    .optional()
    .describe('Session facts that must hold for the tool to be available.'),
  provides: texts.optional().describe('Facts that the tool can establish.'),
  uses: texts.optional().describe('Tools that the handler may call.'),
  events: texts.optional().describe('Names of the events that the handler may send.'),
  exposure: z
    .enum(['model', 'internal'])
    .optional()
    .describe(
      'An internal tool is never listed, and only tools that name it in uses can call it. ' +
        'Default: model.',
    ),
  parallelSafe: z
    .boolean()
    .optional()
    .describe(
      'Whether a batch may run it in parallel with other calls. Default: annotations.readOnly.',
    ),
  resourceKey: z.string().optional().describe('Calls with the same key never overlap.'),
  maxConcurrency: count
    .optional()
    .describe('Maximum number of simultaneous calls, over all sessions. Default: no limit.'),
  origin: z
    .enum(['trusted', 'untrusted'])
    .optional()
    .describe(
      'Where the text of its output comes from: untrusted for what others have written. Default: ' +
        'untrusted with annotations.openWorld, otherwise trusted.',
    ),
  maxOutputChars: count
    .optional()
    .describe(
      'Maximum length of the output that the model sees, in characters. Default: no limit.',
    ),
  outputStrategy: z
    .enum(['head', 'head_tail', 'offload'])
    .optional()
    .describe(
      'What the model sees of an output that is too long: the start, start and end, or with ' +
        'offload the start and a handle by which it can read the rest. Default: head.',
    ),
  scopes: scopeList
    .optional()
    .describe('Scopes that callers must have, such as orders:write. Default: none.'),
  task: z
    .enum(['optional', 'required'])
    .optional()
    .describe(
      'Whether a call over MCP may, or must, go on as a task that its client looks after. ' +
        'Default: neither.',
    ),
  policy: strict({
    knobs: objectSchema
      .optional()
      .describe(
        'The JSON Schema of the settings that profiles can give this tool. The handler reads ' +
          'them as context.knobs.',
      ),
  })
    .optional()
    .describe('The settings that profiles can give this tool.'),
}).meta({
  id: 'Tool',
  title: 'Tool',
  description: 'A tool whose handler is a function of a module, or that somebody else runs.',
  anyOf: [{ required: ['module'] }, { required: ['external', 'description'] }],
  allOf: [...spellings, ...notExternal].map((both) => ({ not: { required: [...both] } })),
});

/**
 * The whole file. Its entries are checked one by one, so that a broken entry does not affect the
 * others.
 */
const fileFormat = strict({
  $schema: z.string().optional().describe('The address of the JSON Schema, for editors.'),
  tools: z.array(toolEntry).nullish().describe('Tools whose handlers are functions of modules.'),
  profiles: z.record(text, profileEntry).nullish().describe('Profiles by id.'),
  rules: z
    .array(ruleEntry)
    .nullish()
    .describe('Rules of the registry, which apply to every session.'),
  quotas: z
    .array(quotaEntry)
    .nullish()
    .describe('Quotas of the registry, which apply to every session.'),
  mcpServers: z
    .record(text, serverEntry)
    .nullish()
    .describe('MCP servers by name, whose tools the command `host-tools` takes.'),
  store: storeEntry
    .nullish()
    .describe(
      'Where commands keep what must outlast them: quotas, approvals and the audit log unless ' +
        'those say where, and outputs that are offloaded.',
    ),
  code: codeEntry
    .nullish()
    .describe(
      'Code mode: models write programs, whose calls pass the rules of this file. true, or the ' +
        'options of `createSession({ code })`. Needs the package `run`. Default: false.',
    ),
  credentials: credentialsEntry
    .nullish()
    .describe(
      'Static tokens by the names of credentials that tools need, for everybody whom the tools ' +
        'act for.',
    ),
  openapi: openApiEntry
    .nullish()
    .describe(
      'HTTP APIs by name, of whose operations the command `host-tools` makes tools, by their ' +
        'OpenAPI documents.',
    ),
  audit: auditEntry.nullish().describe('Where `host-tools serve`, `call` and `hook` record calls.'),
  authorization: authorizationEntry
    .nullish()
    .describe(
      'Who may call the tools that `host-tools serve --http` serves: whoever has a token of this ' +
        'issuer. Needs the package `jose`. Default: anyone who can reach the address.',
    ),
  approvals: approvalsEntry
    .nullish()
    .describe('Where `host-tools serve` keeps calls if nobody can be asked about them.'),
  network: networkEntry
    .nullish()
    .describe(
      'The hosts that an agent may reach in the sandbox of `host-tools guard`, such as ' +
        '`example.com`, `*.example.com` or `127.0.0.1:8080`.',
    ),
}).meta({
  title: 'host-tools',
  description:
    'Tools, MCP servers, profiles, rules and quotas for a registry of host-tools. The file names ' +
    'modules and programs that run, so treat the file itself as code.',
});

/** The keys at the top level of a file. */
export const topLevelKeys: readonly string[] = Object.keys(fileFormat.shape);

export type ToolEntry = z.infer<typeof toolEntry>;

/** The content of `host-tools.schema.json`. It is draft-07, which editors support best. */
export function fileJsonSchema(): Readonly<Record<string, unknown>> {
  return z.toJSONSchema(fileFormat, { target: 'draft-7', io: 'input', reused: 'inline' });
}
